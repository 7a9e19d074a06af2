// An application of Keycloak, which has its users from Signet. See README.md.
import express from "express";
import session from "express-session";
import * as client from "openid-client";

const { KEYCLOAK_ISSUER, KEYCLOAK_CLIENT_SECRET, SIGNET_ORG, SESSION_SECRET, PORT = "3000" } = process.env;
const home = `http://localhost:${PORT}/`;
const redirect_uri = `${home}callback`;
/** One identity provider is one organisation. */
const organisations = { signet: SIGNET_ORG };

// Without TLS, for a Keycloak on this machine.
const config = await client.discovery(
  new URL(KEYCLOAK_ISSUER),
  "guide",
  {},
  client.ClientSecretBasic(KEYCLOAK_CLIENT_SECRET),
  { execute: KEYCLOAK_ISSUER.startsWith("http://") ? [client.allowInsecureRequests] : [] },
);

const escaped = (text) => String(text ?? "").replaceAll(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);

function page({ claims, tokens }) {
  if (!claims) return '<p><a id="sign-in" href="/login">Sign in</a></p>';
  const facts = {
    name: claims.name,
    email: claims.email,
    roles: (claims.roles ?? []).join(", "),
    org: organisations[claims.identity_provider],
    token: tokens.access_token.slice(-8),
  };
  const list = Object.entries(facts).map(([term, text]) => `<dt>${term}</dt><dd>${escaped(text)}</dd>`);
  return `<dl>${list.join("")}</dl><a id="sign-out" href="/logout">Sign out</a>`;
}

/** Keycloak says again who it is. */
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
    ...{ redirect_uri, ...asked, scope: "openid profile email" },
    code_challenge: await client.calculatePKCECodeChallenge(verifier),
    code_challenge_method: "S256",
    // Past Keycloak's own sign-in page, which would offer Signet by a button.
    kc_idp_hint: "signet",
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
  try {
    if (kept.tokens) keep(kept, await client.refreshTokenGrant(config, kept.tokens.refresh_token));
  } catch (error) {
    if (error.error !== "invalid_grant") throw error;
    // Keycloak's session has ended, here or at Signet.
    delete kept.tokens;
    delete kept.claims;
  }
  response.redirect("/");
});
app.get("/logout", (request, response, next) => {
  if (!request.session.tokens) return response.redirect("/");
  const { id_token } = request.session.tokens;
  const url = client.buildEndSessionUrl(config, { id_token_hint: id_token, post_logout_redirect_uri: home });
  request.session.destroy((error) => (error ? next(error) : response.redirect(url.href)));
});
app.listen(Number(PORT));
