/**
 * A server-rendered web application (FilterType OAuthFederated, Fastify). The SDK signs users in with the authorization
 * code flow, stores the session in an encrypted cookie, refreshes the access token, and signs out here and at the service.
 *
 *   npm start                        # in one terminal
 *   npx node examples/web-app.ts     # in another
 */
import { createFilter, type Principal, principalOf } from "@signet/client-sdk";
import { fastifyPlugin } from "@signet/client-sdk/fastify";
import fastify from "fastify";
import { newCookieSecret, portOf, readDemo, tell } from "./shared/demo.ts";
import { facts, html, page, pageHeaders } from "./shared/page.ts";

const demo = await readDemo();
const { address, clientId, clientSecret } = demo.examples.webApp;

const filter = createFilter({
  filterType: "OAuthFederated",
  federationServer: demo.baseUrl,
  applicationId: clientId,
  oauthOrganisationId: demo.org,
  oauthClientSecret: clientSecret,
  oauthScopes: "openid profile email offline_access",
  baseUrl: address,
  // A real application reads it from its secret store: a new one at every start signs all users out.
  cookieSecrets: [newCookieSecret()],
  // The home page is public. Without this line every page requires a sign-in.
  isOptional: true,
});

const app = fastify();
await app.register(fastifyPlugin(filter));
const headers = pageHeaders(demo.baseUrl);

app.get("/", (request, reply) => {
  const principal = principalOf(request);
  const text = principal ? welcomeBack(principal) : homePage;
  return reply.headers(headers).send(page("Web app", "Home", text));
});

app.get("/account", async (request, reply) => {
  const principal = principalOf(request);
  if (!principal) return reply.redirect("/signet/login?return_to=/account");
  // The token is for calls on the user's behalf. The SDK has refreshed it if it was about to expire.
  const authorization = `Bearer ${principal.accessToken}`;
  const { status } = await fetch(`${demo.issuer}/userinfo`, { headers: { authorization } });
  return reply.headers(headers).send(page("Web app", "Your account", account(principal, status)));
});

const homePage = html`<h1>A page for everybody</h1>
<p class="lead">You are not signed in. Your account requires a sign-in, which returns you to it.</p>
<p class="actions"><a class="button primary" href="/account">Your account</a></p>`;

const welcomeBack = ({ user }: Principal) => html`<h1>Welcome, ${user?.firstname}</h1>
<p class="lead">You are signed in as ${user?.email}.</p>
<p class="actions"><a class="button primary" href="/account">Your account</a></p>`;

const account = ({ user, scopes, accessToken }: Principal, status: number) => html`
<h1>${user?.firstname} ${user?.surname}</h1>
<p class="lead">What this application knows about you, from a verified ID token and userinfo.</p>
<section><h2>You</h2>${facts({ Email: user?.email, PermId: user?.permId, Organisation: user?.organisationId })}</section>
<section><h2>The access token</h2>${facts({
  "Ends with": accessToken?.slice(-8),
  Scopes: [...scopes].join(" "),
  "Call on your behalf": `userinfo answers ${status}`,
})}<p>It expires after two minutes. Reload then: the SDK has refreshed it without asking you.</p></section>
<div class="actions"><form method="post" action="/signet/logout"><button class="button">Sign out</button></form>
<a class="button" href="/">Home</a></div>`;

await app.listen({ host: "127.0.0.1", port: portOf(address) });
tell(address, demo, "A public home page; your account requires a sign-in and shows its result.");
