/**
 * An MCP server over streamable HTTP whose tools are for people who have signed in at Signet: docs/mcp.md sets it up. It publishes
 * where its tokens come from (RFC 9728), and asks for a further scope when a tool needs one, so that a client needs to know nothing
 * but its address.
 *
 *   npx node --env-file=.env examples/mcp-server/server.ts
 */
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import {
  configurationFromEnvironment,
  createFilter,
  requirePrincipal,
  requireScopes,
} from "@signet/client-sdk";
import { expressMiddleware } from "@signet/client-sdk/express";
import express from "express";
import { z } from "zod";

const configuration = configurationFromEnvironment(process.env);
const address = new URL(String(configuration.oauthAudience));

const filter = createFilter(configuration, { resourceMetadata: { name: "Notes" } });

/** By user. */
const notes = new Map<string, string[]>();

function notesServer(user: string): McpServer {
  const server = new McpServer({ name: "notes", version: "1.0.0" });
  const answer = (text: string) => ({ content: [{ type: "text" as const, text }] });
  server.registerTool("list_notes", { description: "The user's notes" }, async () =>
    answer(JSON.stringify(notes.get(user) ?? [])),
  );
  const inputSchema = { text: z.string().min(1).max(200) };
  server.registerTool("add_note", { description: "Adds a note", inputSchema }, async ({ text }) => {
    notes.set(user, [...(notes.get(user) ?? []), text]);
    return answer("Added.");
  });
  return server;
}

interface Message {
  readonly method?: string;
  readonly params?: { readonly name?: string };
}

/** Messages may come in a batch. */
const callsTool = (body: Message | readonly (Message | null)[], name: string): boolean =>
  [body].flat().some((message) => message?.method === "tools/call" && message.params?.name === name);

const app = express();
app.use(expressMiddleware(filter));
app.use(express.json());
app.post(address.pathname, async (request, response) => {
  const principal = requirePrincipal(request);
  // Before the tool is called: 403 insufficient_scope with what the client has to ask the user for.
  if (callsTool(request.body, "add_note")) requireScopes(principal, "notes:read", "notes:write");
  const transport = new StreamableHTTPServerTransport();
  response.on("close", () => void transport.close());
  await notesServer(principal.subject).connect(transport as Transport);
  await transport.handleRequest(request, response, request.body);
});
// This server begins no messages of its own: there is no stream to open.
app.get(address.pathname, (_request, response) => response.status(405).end());

app.listen(Number(address.port), address.hostname, () => console.log(`MCP server: ${address}`));
