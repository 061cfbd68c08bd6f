// The client of the TypeScript SDK 1.x, which knows the handshake era only.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as Stdio } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as Http } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { obey } from "./bridge.mjs";

await obey(() => new Client({ name: "test", version: "1" }), { Stdio, Http });
