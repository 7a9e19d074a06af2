// Passport and openid-client sign people in with Signet. See README.md.
import express from "express";
import session from "express-session";
import * as client from "openid-client";
import { Strategy } from "openid-client/passport";
import passport from "passport";

const { SIGNET_ISSUER, SIGNET_CLIENT_ID, SIGNET_CLIENT_SECRET, SESSION_SECRET, PORT = "3000" } = process.env;
const home = `http://localhost:${PORT}/`;

const config = await client.discovery(
  new URL(SIGNET_ISSUER),
  SIGNET_CLIENT_ID,
  {},
  client.ClientSecretBasic(SIGNET_CLIENT_SECRET),
  // For a Signet on this machine, which has no TLS.
  { execute: SIGNET_ISSUER.startsWith("http://") ? [client.allowInsecureRequests] : [] },
);
const options = {
  config,
  scope: "openid profile email roles offline_access",
  callbackURL: `${home}callback`,
};
passport.use(
  "signet",
  new Strategy(options, (tokens, verified) => verified(null, { claims: tokens.claims(), tokens })),
);
passport.serializeUser((user, done) => done(null, user));
passport.deserializeUser((user, done) => done(null, user));

const escaped = (text) => String(text ?? "").replaceAll(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);

function page(user) {
  if (!user) return '<p><a id="sign-in" href="/login">Sign in</a></p>';
  const { name, email, roles = [], iss } = user.claims;
  const facts = {
    name,
    email,
    roles: roles.join(", "),
    org: iss.split("/").at(-1),
    token: user.tokens.access_token.slice(-8),
  };
  const list = Object.entries(facts).map(([term, text]) => `<dt>${term}</dt><dd>${escaped(text)}</dd>`);
  return `<dl>${list.join("")}</dl><a id="sign-out" href="/logout">Sign out</a>`;
}

const app = express();
app.use(session({ secret: SESSION_SECRET, resave: false, saveUninitialized: true }));
app.use(passport.authenticate("session"));
app.get("/", ({ user }, response) => response.send(page(user)));
app.get("/login", passport.authenticate("signet"));
app.get("/callback", passport.authenticate("signet", { successRedirect: "/" }));
app.get("/refresh", async ({ user, session: kept }, response) => {
  if (!user) return response.redirect("/");
  const tokens = await client.refreshTokenGrant(config, user.tokens.refresh_token);
  kept.passport.user = { claims: user.claims, tokens: { ...user.tokens, ...tokens } };
  response.redirect("/");
});
app.get("/logout", (request, response, next) => {
  if (!request.user) return response.redirect("/");
  const { id_token } = request.user.tokens;
  const url = client.buildEndSessionUrl(config, { id_token_hint: id_token, post_logout_redirect_uri: home });
  request.logout((error) => (error ? next(error) : response.redirect(url.href)));
});
app.listen(Number(PORT));
