/**
 * An API that only accepts tokens signed by the organisation's own signing agent (sovereign signing): the agent's key is
 * pinned by its thumbprint. This command enrols the agent and runs it beside the API.
 *
 *   npm start                            # in one terminal
 *   npx node examples/sovereign-api.ts   # in another
 */
import path from "node:path";
import { clientCredentials, createFilter, requirePrincipal } from "@signet/client-sdk";
import { fastifyPlugin } from "@signet/client-sdk/fastify";
import fastify from "fastify";
import { demoPath, portOf, readDemo } from "./shared/demo.ts";
import { facts, html, page, pageHeaders } from "./shared/page.ts";
import { enrolAgent, startAgent } from "./shared/signing-agent.ts";

const demo = await readDemo();
const { notesApp, sovereign, worker } = demo.examples;
const { address, poolId } = sovereign;

const folder = path.join(path.dirname(path.resolve(demoPath)), `example-agent-${poolId}`);
const thumbprint = await enrolAgent(demo, folder);
await startAgent(folder);

const service = {
  federationServer: demo.baseUrl,
  oauthOrganisationId: demo.org,
} as const;

const filter = createFilter({
  ...service,
  filterType: "OAuthUserBearer",
  applicationId: sovereign.clientId,
  oauthAudience: notesApp.audience,
  oauthScopes: "notes:read",
  sovereignSigningPoolId: poolId,
  // The pin. Without it the API would trust any key the service publishes for the pool.
  sovereignKeyThumbprints: [thumbprint],
});

/** Two callers with the same permissions: the agent signs the tokens of one, the service those of the other. */
const callers = new Map(
  Object.entries({ agent: sovereign, service: worker }).map(([signer, { clientId, clientSecret }]) => {
    const client = { applicationId: clientId, oauthClientSecret: clientSecret, oauthScopes: "notes:read" };
    return [signer, clientCredentials({ ...service, ...client })];
  }),
);

const app = fastify();
await app.register(async (api) => {
  await api.register(fastifyPlugin(filter));
  api.get("/api/notes", (request) => [`Only for ${requirePrincipal(request).clientId}`]);
});
const headers = pageHeaders(demo.baseUrl);
app.get("/", (_request, reply) => reply.headers(headers).send(page("Sovereign API", "Who signs", home)));
app.get<{ Params: { signer: string } }>("/call/:signer", async ({ params }, reply) => {
  const caller = callers.get(params.signer);
  if (!caller) return reply.callNotFound();
  const response = await caller.fetch(`${address}/api/notes`);
  const result = response.ok ? await response.text() : response.headers.get("www-authenticate");
  const text = html`<h1>The API responds with ${response.status}</h1><p class="lead">The token was signed by the ${params.signer}.</p>
<pre>${result ?? ""}</pre><p class="actions"><a class="button" href="/">Back</a></p>`;
  return reply.headers(headers).send(page("Sovereign API", "Response", text));
});

const home = html`<h1>Who holds which key</h1>
<p class="lead">The organisation signs its own tokens. The service relays them and can't create any.</p>
<section>${facts({
  "Signing agent": `the private key, in ${path.relative(".", path.join(folder, "key.pem"))}`,
  Service: "only the public key, which it publishes for the pool",
  "This API": `the thumbprint ${thumbprint}; it trusts no other key`,
})}</section>
<p class="actions"><a class="button primary" href="/call/agent">Call with a token signed by the agent</a>
<a class="button" href="/call/service">Call with a token signed by the service</a></p>`;

await app.listen({ host: "127.0.0.1", port: portOf(address) });
console.log(
  `Open  ${address}/\n\nThe API accepts a token signed by the agent and rejects one signed by the service.\nThe agent's key is in ${folder}.\nStop with Ctrl+C.`,
);
