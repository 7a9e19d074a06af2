/**
 * An API and the single-page application that calls it (FilterType OAuthUserBearer, Fastify). The API verifies every access
 * token locally: signature, issuer, audience, expiry, scopes. The single-page application is in `spa`.
 *
 *   npm start                          # in one terminal
 *   npx node examples/api-and-spa.ts   # in another
 */
import { readFile } from "node:fs/promises";
import { createFilter, requirePrincipal, requireScopes } from "@signet/client-sdk";
import { fastifyPlugin } from "@signet/client-sdk/fastify";
import fastify, { type FastifyInstance } from "fastify";
import { portOf, readDemo, tell } from "./shared/demo.ts";
import { html, page, pageHeaders } from "./shared/page.ts";

const demo = await readDemo();
const { address, clientId, audience } = demo.examples.notesApp;

const filter = createFilter({
  filterType: "OAuthUserBearer",
  federationServer: demo.baseUrl,
  applicationId: clientId,
  oauthOrganisationId: demo.org,
  oauthAudience: audience,
  // Required of every call; adding a note requires more.
  oauthScopes: "notes:read",
});

/** By user. */
const notes = new Map<string, string[]>();

async function api(routes: FastifyInstance): Promise<void> {
  await routes.register(fastifyPlugin(filter));
  routes.get("/notes", (request) => notes.get(requirePrincipal(request).subject) ?? []);

  const schema = { body: { type: "string", minLength: 1, maxLength: 200 } };
  routes.post<{ Body: string }>("/notes", { schema }, (request) => {
    const principal = requirePrincipal(request);
    requireScopes(principal, "notes:write");
    const written = [...(notes.get(principal.subject) ?? []), request.body];
    notes.set(principal.subject, written);
    return written;
  });
}

const body = html`<h1>Notes</h1>
<p class="lead" id="status" role="status">Starting …</p>
<section id="notes" hidden><h2>Yours</h2><ul></ul>
<form class="actions"><label for="note">New note</label><input id="note" maxlength="200" required>
<button class="button primary">Add</button></form></section>
<p class="actions" id="actions"></p>`;

const app = fastify();
const headers = pageHeaders(demo.baseUrl);
app.get("/", (_request, reply) => reply.headers(headers).send(page("Notes", "Notes", body, "/spa/notes.js")));
for (const name of ["notes.js", "tokens.js"]) {
  const script = await readFile(new URL(`spa/${name}`, import.meta.url), "utf8");
  app.get(`/spa/${name}`, (_request, reply) => reply.type("text/javascript").send(script));
}
// Public: a client in a browser has no secrets.
app.get("/settings.json", () => ({ issuer: demo.issuer, clientId }));
await app.register(api, { prefix: "/api" });

await app.listen({ host: "127.0.0.1", port: portOf(address) });
tell(
  address,
  demo,
  `A single-page application. Its API rejects calls without a token:  curl -i ${address}/api/notes`,
);
