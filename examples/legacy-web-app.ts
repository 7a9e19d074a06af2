/**
 * A web application on the legacy federation (FilterType UserFederated, Express). The login page returns users with a
 * session key, which the SDK validates at the service, stores in an encrypted cookie, and revalidates regularly.
 *
 *   npm start                             # in one terminal
 *   npx node examples/legacy-web-app.ts   # in another
 */
import { createFilter, type Principal, principalOf } from "@signet/client-sdk";
import { expressMiddleware } from "@signet/client-sdk/express";
import express from "express";
import { newCookieSecret, portOf, readDemo, tell } from "./shared/demo.ts";
import { facts, html, page, pageHeaders } from "./shared/page.ts";

const demo = await readDemo();
const { address, clientId } = demo.examples.legacyApp;

const filter = createFilter({
  filterType: "UserFederated",
  federationServer: demo.baseUrl,
  applicationId: clientId,
  baseUrl: address,
  cookieSecrets: [newCookieSecret()],
  // How long a session that ended elsewhere may continue here.
  revalidateAfterSeconds: 5,
  isOptional: true,
});

const app = express();
app.disable("x-powered-by");
app.use(expressMiddleware(filter));
app.use((_request, response, next) => {
  response.set(pageHeaders(demo.baseUrl));
  next();
});

app.get("/", (request, response) => {
  const principal = principalOf(request);
  response.send(page("Legacy web app", "Home", principal ? signedIn(principal) : homePage));
});

app.get("/admin", (request, response) => {
  const role = principalOf(request)?.user?.role;
  if (role === "Administrator") response.send(page("Legacy web app", "Administration", administration));
  else response.status(403).send(page("Legacy web app", "Not allowed", refused(role)));
});

const homePage = html`<h1>A page for everybody</h1>
<p class="lead">You are not signed in.</p>
<p class="actions"><a class="button primary" href="/signet/login">Sign in</a></p>`;

const signedIn = ({ user }: Principal) => html`<h1>${user?.firstname} ${user?.surname}</h1>
<p class="lead">You signed in with a session key, stored in an encrypted cookie. No tokens are involved.</p>
<section><h2>You</h2>${facts({
  Email: user?.email,
  Role: user?.role,
  PermId: user?.permId,
  Organisation: user?.organisationId,
})}</section>
<div class="actions"><form method="post" action="/signet/logout"><button class="button">Sign out</button></form>
<a class="button" href="/admin">Administration</a></div>`;

const administration = html`<h1>Administration</h1><p class="lead">Only administrators of the organisation see this page.</p>
<p class="actions"><a class="button" href="/">Back</a></p>`;

const refused = (role: string | undefined) => html`<h1>Not for you</h1>
<p class="lead">This page is for administrators. ${role ? `Your role is ${role}.` : "You are not signed in."}</p>
<p class="actions"><a class="button" href="/">Back</a></p>`;

app.listen(portOf(address), "127.0.0.1", () =>
  tell(address, demo, "A public home page, a sign-in with a session key, and a page for administrators."),
);
