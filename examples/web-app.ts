/**
 * A server-rendered web application (FilterType OAuthFederated, Fastify). The SDK does the sign-in with code and PKCE, keeps
 * the session in an encrypted cookie, renews the access token before it ends, and signs out here and at the service.
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
  // A new one signs everybody out at the next start: a real application takes it from where it keeps its secrets.
  cookieSecrets: [newCookieSecret()],
  // The front page is for everybody. Without this line every page asks for a sign-in.
  isOptional: true,
});

const app = fastify();
await app.register(fastifyPlugin(filter));
const headers = pageHeaders(demo.baseUrl);

app.get("/", (request, reply) => {
  const principal = principalOf(request);
  const text = principal ? welcomeBack(principal) : frontPage;
  return reply.headers(headers).send(page("Web app", "Front page", text));
});

app.get("/account", async (request, reply) => {
  const principal = principalOf(request);
  if (!principal) return reply.redirect("/signet/login?return_to=/account");
  // The token is good for calls in the user's name. The SDK has renewed it if it was about to end.
  const authorization = `Bearer ${principal.accessToken}`;
  const { status } = await fetch(`${demo.issuer}/userinfo`, { headers: { authorization } });
  return reply.headers(headers).send(page("Web app", "Your account", account(principal, status)));
});

const frontPage = html`<h1>A page for everybody</h1>
<p class="lead">You are not signed in. Your account is behind the sign-in; the SDK brings you back to it.</p>
<p class="actions"><a class="button primary" href="/account">Your account</a></p>`;

const welcomeBack = ({ user }: Principal) => html`<h1>Welcome, ${user?.firstname}</h1>
<p class="lead">You are signed in as ${user?.email}.</p>
<p class="actions"><a class="button primary" href="/account">Your account</a></p>`;

const account = ({ user, scopes, accessToken }: Principal, status: number) => html`
<h1>${user?.firstname} ${user?.surname}</h1>
<p class="lead">What this application knows of you, all of it from a verified ID token and userinfo.</p>
<section><h2>You</h2>${facts({ Email: user?.email, PermId: user?.permId, Organisation: user?.organisationId })}</section>
<section><h2>The access token</h2>${facts({
  "Ends with": accessToken?.slice(-8),
  Scopes: [...scopes].join(" "),
  "Call in your name": `userinfo answers ${status}`,
})}<p>It is good for two minutes. Reload later: the SDK has got another one, and you were asked nothing.</p></section>
<div class="actions"><form method="post" action="/signet/logout"><button class="button">Sign out</button></form>
<a class="button" href="/">Front page</a></div>`;

await app.listen({ host: "127.0.0.1", port: portOf(address) });
tell(address, demo, "A page for everybody; your account asks for the sign-in and shows what came of it.");
