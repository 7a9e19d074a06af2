/**
 * A worker that calls an API by its own right (client credentials grant): no person, no browser. The API stands in the same
 * program here, at any free port; it accepts what OAuthUserBearer accepts.
 *
 *   npm start                                # in one terminal
 *   npx node examples/machine-to-machine.ts  # in another
 */
import { clientCredentials, createFilter, requirePrincipal, SignetError } from "@signet/client-sdk";
import { fastifyPlugin } from "@signet/client-sdk/fastify";
import fastify from "fastify";
import { readDemo } from "./shared/demo.ts";

const demo = await readDemo();
const { worker, notesApp } = demo.examples;
const service = {
  federationServer: demo.baseUrl,
  oauthOrganisationId: demo.org,
  applicationId: worker.clientId,
} as const;

// The API: it knows no secret of the worker, only who may issue tokens, and for whom.
const api = fastify();
await api.register(
  fastifyPlugin(
    createFilter({
      ...service,
      filterType: "OAuthUserBearer",
      oauthAudience: notesApp.audience,
      oauthScopes: "notes:read",
    }),
  ),
);
api.get("/notes/count", (request) => {
  const { kind, clientId } = requirePrincipal(request);
  return { count: 3, askedBy: kind, clientId };
});
const address = await api.listen({ host: "127.0.0.1", port: 0 });

// The worker: the source keeps the token, and fetches the next one before it ends.
const calls = clientCredentials({
  ...service,
  oauthClientSecret: worker.clientSecret,
  oauthScopes: "notes:read",
});

async function show(what: string, response: Response): Promise<void> {
  const said = response.ok ? await response.text() : response.headers.get("www-authenticate");
  console.log(`${what}\n  ${response.status} ${said}\n`);
}

await show("Without a token the API refuses:", await fetch(`${address}/notes/count`));
await show("With one it answers:", await calls.fetch(`${address}/notes/count`));
await show("Again, with the same token:", await calls.fetch(`${address}/notes/count`));

const forbidden = { ...service, oauthClientSecret: worker.clientSecret, oauthScopes: "notes:write" };
await clientCredentials(forbidden)
  .token()
  .catch((error: unknown) => {
    if (!(error instanceof SignetError)) throw error;
    console.log(`A scope that it was not given:\n  ${error.code}: ${error.oauthError ?? error.message}\n`);
  });
await api.close();
