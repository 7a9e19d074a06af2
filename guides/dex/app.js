// An application of dex, which has its users from Signet. See README.md.
import express from "express";
import session from "express-session";
import * as client from "openid-client";

const {
  DEX_ISSUER,
  DEX_CLIENT_SECRET,
  SIGNET_ORG,
  SIGNET_SIGN_OUT,
  SESSION_SECRET,
  PORT = "3000",
} = process.env;
const home = `http://localhost:${PORT}/`;
const redirect_uri = `${home}callback`;
/** One connector is one organisation. */
const organisations = { signet: SIGNET_ORG };

// Without TLS, for a dex on this machine.
const config = await client.discovery(
  new URL(DEX_ISSUER),
  "guide",
  {},
  client.ClientSecretBasic(DEX_CLIENT_SECRET),
  { execute: DEX_ISSUER.startsWith("http://") ? [client.allowInsecureRequests] : [] },
);

const escaped = (text) => String(text ?? "").replaceAll(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);

function page({ claims, tokens }) {
  if (!claims) return '<p><a id="sign-in" href="/login">Sign in</a></p>';
  const facts = {
    name: claims.name,
    email: claims.email,
    roles: (claims.groups ?? []).join(", "),
    org: organisations[claims.federated_claims.connector_id],
    token: tokens.access_token.slice(-8),
  };
  const list = Object.entries(facts).map(([term, text]) => `<dt>${term}</dt><dd>${escaped(text)}</dd>`);
  return `<dl>${list.join("")}</dl><a id="sign-out" href="/logout">Sign out</a>`;
}

/** dex says again who it is: what Signet has told it meanwhile. */
const keep = (kept, tokens) => {
  kept.claims = tokens.claims();
  kept.tokens = { ...kept.tokens, ...tokens };
};

const app = express();
app.use(session({ secret: SESSION_SECRET, resave: false, saveUninitialized: true }));
app.get("/", (request, response) => response.send(page(request.session)));
app.get("/login", async (request, response) => {
  const verifier = client.randomPKCECodeVerifier();
  const asked = { state: client.randomState(), nonce: client.randomNonce() };
  request.session.asked = { ...asked, verifier };
  const url = client.buildAuthorizationUrl(config, {
    ...{ redirect_uri, ...asked, scope: "openid profile email groups offline_access federated:id" },
    code_challenge: await client.calculatePKCECodeChallenge(verifier),
    code_challenge_method: "S256",
  });
  response.redirect(url.href);
});
app.get("/callback", async (request, response) => {
  const { state, nonce, verifier } = request.session.asked ?? {};
  if (!state) return response.redirect("/");
  const tokens = await client.authorizationCodeGrant(config, new URL(request.originalUrl, home), {
    ...{ expectedState: state, expectedNonce: nonce, pkceCodeVerifier: verifier },
  });
  // Another session than before the sign-in: nobody else knows its cookie.
  await new Promise((resolve, reject) =>
    request.session.regenerate((error) => (error ? reject(error) : resolve())),
  );
  keep(request.session, tokens);
  response.redirect("/");
});
app.get("/refresh", async ({ session: kept }, response) => {
  if (kept.tokens) keep(kept, await client.refreshTokenGrant(config, kept.tokens.refresh_token));
  response.redirect("/");
});
app.get("/logout", (request, response, next) => {
  if (!request.session.tokens) return response.redirect("/");
  request.session.destroy((error) => (error ? next(error) : response.redirect(SIGNET_SIGN_OUT)));
});
app.listen(Number(PORT));
