// A client that does what the lines of standard input say, and answers each with a line of its own.
import { createInterface } from "node:readline";
import { SigningIn } from "./oauth.mjs";

const { url, token, stdio, oauth } = JSON.parse(process.argv[2]);

export async function obey(make, { Stdio, Http }) {
  const agent = oauth ? new SigningIn(make, Http, url, oauth) : await connected(make(), { Stdio, Http });
  for await (const line of createInterface({ input: process.stdin })) {
    const { method, params } = JSON.parse(line);
    console.log(JSON.stringify(await outcome(() => agent[method](...params))));
  }
  await agent.close();
}

async function connected(client, { Stdio, Http }) {
  const headers = { Authorization: `Bearer ${token}` };
  await client.connect(stdio ? new Stdio(stdio) : new Http(new URL(url), { requestInit: { headers } }));
  return client;
}

async function outcome(act) {
  try {
    return { result: await act() };
  } catch ({ name, code, message }) {
    return { error: { name, code, message } };
  }
}
