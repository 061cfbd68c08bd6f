// The client of the TypeScript SDK 2.x, in the era that is asked for: "legacy", its default, or "auto".
import { Client, StreamableHTTPClientTransport as Http } from "@modelcontextprotocol/client";
import { StdioClientTransport as Stdio } from "@modelcontextprotocol/client/stdio";
import { obey } from "./bridge.mjs";

const mode = process.argv[3];
await obey(() => new Client({ name: "test", version: "1" }, { versionNegotiation: { mode } }), { Stdio, Http });
