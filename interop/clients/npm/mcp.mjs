// An MCP server that refuses requests without an access token, and an MCP client on a loopback port of its own, both of
// the MCP SDK, with what `app create --for mcp` prints. `/start` begins the client's sign-in; it ends with what `whoami` answers.
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { auth, UnauthorizedError } from "@modelcontextprotocol/sdk/client/auth.js";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { InvalidTokenError } from "@modelcontextprotocol/sdk/server/auth/errors.js";
import { requireBearerAuth } from "@modelcontextprotocol/sdk/server/auth/middleware/bearerAuth.js";
import { getOAuthProtectedResourceMetadataUrl } from "@modelcontextprotocol/sdk/server/auth/router.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import express from "express";
import { createRemoteJWKSet, jwtVerify } from "jose";
import { printedValues } from "./printed-values.mjs";

const printed = (file) => readFileSync(file, "utf8");
const checks = printedValues("MCP server: checks of the access token (RFC 9068)");
const { "Server URL": serverUrl, "Client ID": clientId } = printedValues("MCP client");

const keys = createRemoteJWKSet(new URL(checks["JWKS"]));
async function verifyAccessToken(token) {
  const expected = { issuer: checks["iss"], audience: checks["aud"], typ: "at+jwt" };
  const { payload } = await jwtVerify(token, keys, expected).catch((error) => {
    throw new InvalidTokenError(String(error));
  });
  const { sub, client_id, scope, exp } = payload;
  const resource = new URL(checks["aud"]);
  return { token, clientId: client_id, scopes: scope.split(" "), expiresAt: exp, resource, extra: { sub } };
}

const metadataUrl = getOAuthProtectedResourceMetadataUrl(new URL(serverUrl));
const bearer = requireBearerAuth({
  verifier: { verifyAccessToken },
  resourceMetadataUrl: metadataUrl,
  expectedResource: new URL(serverUrl),
});
const whoami = async ({ authInfo }) => ({
  content: [{ type: "text", text: JSON.stringify({ sub: authInfo.extra.sub, scopes: authInfo.scopes }) }],
});

const app = express();
app.get(new URL(metadataUrl).pathname, (_request, response) => response.type("json").send(printed("mcp")));
app.post(new URL(serverUrl).pathname, bearer, express.json(), async (request, response) => {
  const server = new McpServer({ name: "interop", version: "1.0.0" });
  server.registerTool("whoami", { description: "Who calls" }, whoami);
  const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined });
  await server.connect(transport);
  await transport.handleRequest(request, response, request.body);
});
// The client asks for a stream of the server's own messages, which this one has none of.
app.get(new URL(serverUrl).pathname, (_request, response) => response.status(405).end());

let tokens;
let verifier;
let authorizationUrl;
const loopback = createServer(finish);
await once(loopback.listen(0, "127.0.0.1"), "listening");
const redirectUrl = `http://127.0.0.1:${loopback.address().port}/callback`;
const provider = {
  redirectUrl,
  clientMetadata: { redirect_uris: [redirectUrl], token_endpoint_auth_method: "none" },
  clientInformation: () => ({ client_id: clientId, issuer: checks["iss"] }),
  state: () => "the client's own",
  tokens: () => tokens,
  saveTokens: (issued) => {
    tokens = issued;
  },
  codeVerifier: () => verifier,
  saveCodeVerifier: (made) => {
    verifier = made;
  },
  redirectToAuthorization: (url) => {
    authorizationUrl = url;
  },
};
const newTransport = () => new StreamableHTTPClientTransport(new URL(serverUrl), { authProvider: provider });

async function callWhoami() {
  const client = new Client({ name: "interop-client", version: "1.0.0" });
  await client.connect(newTransport());
  const { content } = await client.callTool({ name: "whoami", arguments: {} });
  await client.close();
  return content[0].text;
}

async function finish(request, response) {
  try {
    const { searchParams } = new URL(request.url, redirectUrl);
    if (searchParams.get("state") !== provider.state()) throw new Error("state differs");
    await newTransport().finishAuth(searchParams.get("code"));
    response.end(await callWhoami());
  } catch (error) {
    response.writeHead(500).end(String(error.stack));
  }
}

app.get("/start", async (_request, response) => {
  try {
    response.send(await callWhoami());
  } catch (error) {
    if (!(error instanceof UnauthorizedError)) throw error;
    response.redirect(authorizationUrl.href);
  }
});
app.get("/refresh", async (_request, response) => {
  const { access_token } = tokens;
  const result = await auth(provider, { serverUrl });
  response.json({ result, isNew: tokens.access_token !== access_token, whoami: await callWhoami() });
});
app.listen(Number(process.argv[2]));
