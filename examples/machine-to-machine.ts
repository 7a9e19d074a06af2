/**
 * A worker that calls an API for itself (client credentials grant), without a user. The API, protected by OAuthUserBearer,
 * runs in the same program, on any free port.
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

// The API knows the issuer and its own audience, but no secret of the worker.
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
  return { count: 3, calledBy: kind, clientId };
});
const address = await api.listen({ host: "127.0.0.1", port: 0 });

// The worker: the source caches the token and renews it before it expires.
const calls = clientCredentials({
  ...service,
  oauthClientSecret: worker.clientSecret,
  oauthScopes: "notes:read",
});

async function show(what: string, response: Response): Promise<void> {
  const result = response.ok ? await response.text() : response.headers.get("www-authenticate");
  console.log(`${what}\n  ${response.status} ${result}\n`);
}

await show("Without a token:", await fetch(`${address}/notes/count`));
await show("With a token:", await calls.fetch(`${address}/notes/count`));
await show("Again, with the same token:", await calls.fetch(`${address}/notes/count`));

const forbidden = { ...service, oauthClientSecret: worker.clientSecret, oauthScopes: "notes:write" };
await clientCredentials(forbidden)
  .token()
  .catch((error: unknown) => {
    if (!(error instanceof SignetError)) throw error;
    console.log(`A scope that is not allowed:\n  ${error.code}: ${error.oauthError ?? error.message}\n`);
  });
await api.close();
