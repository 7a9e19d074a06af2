/** Complete programs, which read `.env`. */
import { installLine } from "../../../page-kit/program-address.ts";
import { isLoopback, portNumber, type SnippetSource } from "./snippet-source.ts";

export interface CodeSnippet {
  /** Also the element's id. */
  readonly id: string;
  /** `Express`; a program's name needs no translation. */
  readonly title: string;
  readonly file: string;
  readonly install?: string;
  readonly lines: string;
  readonly run: string;
}

const RUN = "node --env-file=.env app.mjs";

export function codeSnippets(source: SnippetSource): CodeSnippet[] {
  switch (source.kind) {
    case "web":
    case "legacy":
      return [fastify(source), express(source), hono(source), web(source)];
    case "service":
      return [service(source)];
    case "device":
      return [device(source)];
    case "spa":
      return [browser(source)];
    case "native":
    case "public":
      // A custom URI scheme depends on the platform.
      return isLoopback(source.callback.redirectUri) ? [loopback(source)] : [];
  }
}

const install = (source: SnippetSource, ...others: string[]): string =>
  installLine("client-sdk", source, others);

const fastify = (source: SnippetSource): CodeSnippet => ({
  id: "fastify",
  title: "Fastify",
  file: "app.mjs",
  install: install(source, "fastify"),
  lines: `import { configurationFromEnvironment, createFilter, requirePrincipal } from "@signet/client-sdk";
import { fastifyPlugin } from "@signet/client-sdk/fastify";
import fastify from "fastify";

const app = fastify();
const filter = createFilter(configurationFromEnvironment(process.env), { onError: console.warn });
app.register(fastifyPlugin(filter));
app.get("/", (request) => requirePrincipal(request).user);
await app.listen({ port: ${portNumber(source.callback.address)} });`,
  run: RUN,
});

const express = (source: SnippetSource): CodeSnippet => ({
  id: "express",
  title: "Express",
  file: "app.mjs",
  install: install(source, "express"),
  lines: `import { configurationFromEnvironment, createFilter, requirePrincipal } from "@signet/client-sdk";
import { expressMiddleware } from "@signet/client-sdk/express";
import express from "express";

const app = express();
const filter = createFilter(configurationFromEnvironment(process.env), { onError: console.warn });
app.use(expressMiddleware(filter));
app.get("/", (request, response) => {
  response.json(requirePrincipal(request).user);
});
app.listen(${portNumber(source.callback.address)});`,
  run: RUN,
});

const hono = (source: SnippetSource): CodeSnippet => ({
  id: "hono",
  title: "Hono (Bun, Deno)",
  file: "app.mjs",
  install: install(source, "hono"),
  lines: `import { configurationFromEnvironment, createFilter } from "@signet/client-sdk";
import { honoMiddleware } from "@signet/client-sdk/hono";
import { Hono } from "hono";

const app = new Hono();
app.use(honoMiddleware(createFilter(configurationFromEnvironment(process.env), { onError: console.warn })));
app.get("/", (c) => c.json(c.get("principal")?.user));

export default { port: ${portNumber(source.callback.address)}, fetch: app.fetch };`,
  run: "bun --env-file=.env app.mjs",
});

const web = (source: SnippetSource): CodeSnippet => ({
  id: "web",
  title: "Request, Response (Bun, Deno)",
  file: "app.mjs",
  install: install(source),
  lines: `import { configurationFromEnvironment, createFilter, protect } from "@signet/client-sdk";

const filter = createFilter(configurationFromEnvironment(process.env), { onError: console.warn });
const handler = protect(filter, (request, principal) => Response.json(principal.user));

export default { port: ${portNumber(source.callback.address)}, fetch: (request) => handler(request) };`,
  run: "bun --env-file=.env app.mjs",
});

const service = (source: SnippetSource): CodeSnippet => ({
  id: "service",
  title: "Node.js",
  file: "app.mjs",
  install: install(source),
  lines: `import { clientCredentials, configurationFromEnvironment } from "@signet/client-sdk";

const source = clientCredentials(configurationFromEnvironment(process.env));
console.log(await source.token());
// Calls an API with the token, which is renewed in time: await source.fetch("https://api.example/")`,
  run: RUN,
});

const device = (source: SnippetSource): CodeSnippet => ({
  id: "device",
  title: "Node.js",
  file: "app.mjs",
  install: install(source),
  lines: `import { configurationFromEnvironment, deviceGrant } from "@signet/client-sdk";

const tokens = await deviceGrant(configurationFromEnvironment(process.env), {
  onPrompt: ({ verificationUri, userCode }) => console.log(\`Open \${verificationUri} and enter \${userCode}\`),
});
console.log("Signed in as", tokens.claims?.sub);`,
  run: RUN,
});

const browser = ({ issuer, clientId, callback, scopes }: SnippetSource): CodeSnippet => ({
  id: "browser",
  title: "HTML",
  file: "index.html",
  lines: `<!doctype html>
<title>Sign in</title>
<button id="sign-in">Sign in</button>
<pre id="person"></pre>
<script type="module">
const issuer = "${issuer}";
const client_id = "${clientId}";
const redirect_uri = "${callback.redirectUri}";
const base64url = (bytes) => btoa(String.fromCharCode(...new Uint8Array(bytes)))
  .replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
const random = () => base64url(crypto.getRandomValues(new Uint8Array(32)));

document.getElementById("sign-in").addEventListener("click", async () => {
  const pending = { state: random(), verifier: random() };
  sessionStorage.setItem("pending", JSON.stringify(pending));
  const challenge = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(pending.verifier));
  location.assign(\`\${issuer}/authorize?\${new URLSearchParams({
    response_type: "code", client_id, redirect_uri, scope: "${scopes.join(" ")}",
    state: pending.state, code_challenge: base64url(challenge), code_challenge_method: "S256",
  })}\`);
});

const answer = new URLSearchParams(location.search);
const { state, verifier } = JSON.parse(sessionStorage.getItem("pending") ?? "{}");
if (answer.has("code") && answer.get("state") === state && answer.get("iss") === issuer) {
  sessionStorage.removeItem("pending");
  history.replaceState(null, "", location.pathname);
  const grant = { grant_type: "authorization_code", client_id, redirect_uri, code: answer.get("code"), code_verifier: verifier };
  const response = await fetch(\`\${issuer}/token\`, { method: "POST", body: new URLSearchParams(grant) });
  const { access_token } = await response.json();
  const headers = { authorization: \`Bearer \${access_token}\` };
  const person = await (await fetch(\`\${issuer}/userinfo\`, { headers })).json();
  document.getElementById("person").textContent = JSON.stringify(person, null, 2);
}
</script>`,
  run: `python3 -m http.server ${portNumber(callback.address)}`,
});

const loopback = ({ issuer, clientId, callback, scopes }: SnippetSource): CodeSnippet => ({
  id: "loopback",
  title: "Node.js",
  file: "app.mjs",
  lines: `import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";

const issuer = "${issuer}";
const client_id = "${clientId}";
const random = () => randomBytes(32).toString("base64url");
const [state, verifier] = [random(), random()];

// An address of this computer, at any free port (RFC 8252).
const server = createServer().listen(0, "127.0.0.1");
await once(server, "listening");
const redirect_uri = Object.assign(new URL("${callback.redirectUri}"), { port: server.address().port }).href;
const scope = "${scopes.join(" ")}";
const code_challenge = createHash("sha256").update(verifier).digest("base64url");
const query = { response_type: "code", client_id, redirect_uri, scope, state, code_challenge, code_challenge_method: "S256" };
console.log(\`Open \${issuer}/authorize?\${new URLSearchParams(query)}\`);

const [request, response] = await once(server, "request");
const answer = new URL(request.url, redirect_uri).searchParams;
response.end("You can close this window.");
server.close();
if (answer.get("state") !== state || answer.get("iss") !== issuer) throw new Error("This answer is not for us.");
const grant = { grant_type: "authorization_code", client_id, redirect_uri, code: answer.get("code"), code_verifier: verifier };
const tokens = await (await fetch(\`\${issuer}/token\`, { method: "POST", body: new URLSearchParams(grant) })).json();
const headers = { authorization: \`Bearer \${tokens.access_token}\` };
console.log(await (await fetch(\`\${issuer}/userinfo\`, { headers })).json());`,
  run: "node app.mjs",
});
