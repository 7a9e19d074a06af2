/**
 * A small SaaS: one application that many organisations share (FilterType OAuthFederated with `organisations`, Fastify). Each tenant
 * signs in at its own issuer, gives its own roles, invites its own people, sets up its own single sign-on, and keeps the user table true by webhooks.
 *
 *   npm start                    # in one terminal
 *   npx node examples/saas.ts    # in another
 */
import { createFilter, type Principal, principalOf, SignetError } from "@signet/client-sdk";
import { fastifyPlugin } from "@signet/client-sdk/fastify";
import fastify from "fastify";
import { homePage, notSetUpPage, rolesOf, tenantPage } from "./saas/pages.ts";
import { createTenants, enableCommand } from "./saas/tenants.ts";
import { newCookieSecret, portOf, readDemo, tell } from "./shared/demo.ts";
import { page, pageHeaders } from "./shared/page.ts";

const demo = await readDemo();
const { address, clientId, clientSecret } = demo.examples.saas;
const application = { federationServer: demo.baseUrl, clientId, clientSecret };
const tenants = createTenants({ ...application, address });

const filter = createFilter({
  ...{ filterType: "OAuthFederated", ...application, baseUrl: address },
  // A real SaaS asks its table of customers here, and refuses those who have left.
  organisations: "any",
  scope: "openid profile email roles offline_access",
  cookieSecrets: [newCookieSecret()],
  isOptional: true,
});

const app = fastify();
const headers = pageHeaders(demo.baseUrl);
// A webhook is verified as it came, byte by byte.
app.removeAllContentTypeParsers();
app.addContentTypeParser("*", { parseAs: "string" }, (_request, body, done) => done(null, body));
await app.register(fastifyPlugin(filter));

app.get("/", async (request, reply) => {
  const principal = principalOf(request);
  return reply.headers(headers).send(page("SaaS", "Home", principal ? await pageOf(principal) : homePage));
});

async function pageOf(principal: Principal) {
  try {
    const tenant = await tenants.of(principal);
    const known = await tenants.with(principal.user?.email ?? "");
    return tenantPage(principal, tenant, known);
  } catch (error) {
    // The tenant signs its people in here, but has granted no scope of API v1 yet.
    if (!(error instanceof SignetError) || error.oauthError !== "invalid_scope") throw error;
    return notSetUpPage(enableCommand(clientId, principal.organisationId));
  }
}

app.post("/invitations", async (request, reply) => {
  const principal = principalOf(request);
  if (!principal || !rolesOf(principal).includes("owner")) return reply.code(403).send("For owners.");
  const email = new URLSearchParams(String(request.body)).get("email") ?? "";
  await tenants.invite(await tenants.of(principal), email);
  return reply.redirect("/", 303);
});

app.post("/sso", async (request, reply) => {
  const principal = principalOf(request);
  if (!principal || !rolesOf(principal).includes("owner")) return reply.code(403).send("For owners.");
  return reply.redirect(await tenants.portalLink(await tenants.of(principal)), 303);
});

app.post<{ Params: { tenant: string } }>("/webhooks/:tenant", async (request, reply) => {
  try {
    await tenants.receive(request.params.tenant, request.headers, String(request.body));
    return reply.code(204).send();
  } catch (error) {
    if (error instanceof SignetError && error.code === "signature") return reply.code(401).send();
    throw error;
  }
});

await app.listen({ host: "127.0.0.1", port: portOf(address) });
tell(address, demo, "Sign in at one organisation, then at another: each has its own people and roles.");
