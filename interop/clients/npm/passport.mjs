// Passport with openid-client, configured by hand with the values that `app create --for generic` prints.
import express from "express";
import session from "express-session";
import * as client from "openid-client";
import { Strategy } from "openid-client/passport";
import passport from "passport";
import { printedValues } from "./printed-values.mjs";

const printed = printedValues("OpenID Connect");
const redirectUri = new URL(printed["Redirect URI"]);

const config = await client.discovery(
  new URL(printed["Issuer"]),
  printed["Client ID"],
  { id_token_signed_response_alg: printed["ID token algorithm"] },
  client.ClientSecretBasic(printed["Client secret"]),
  // The tests' Signet listens on this machine, without TLS.
  { execute: [client.allowInsecureRequests] },
);
const strategy = new Strategy(
  { config, scope: printed["Scopes"], callbackURL: redirectUri.href },
  (tokens, verified) => verified(null, { claims: tokens.claims(), tokens }),
);
passport.use("signet", strategy);
passport.serializeUser((user, done) => done(null, user));
passport.deserializeUser((user, done) => done(null, user));

const app = express();
app.use(session({ secret: printed["Client secret"], resave: false, saveUninitialized: true }));
app.use(passport.authenticate("session"));
app.get("/", ({ user }, response) => response.json(user?.claims ?? null));
app.get("/login", passport.authenticate("signet"));
app.get(redirectUri.pathname, passport.authenticate("signet", { successRedirect: "/" }));
app.get("/refresh", async ({ user }, response) => {
  const fresh = await client.refreshTokenGrant(config, user.tokens.refresh_token);
  const person = await client.fetchUserInfo(config, fresh.access_token, user.claims.sub);
  response.json({ sub: person.sub, isNew: fresh.access_token !== user.tokens.access_token });
});
app.get("/logout", (request, response, next) => {
  const { id_token } = request.user.tokens;
  const home = new URL("/", redirectUri).href;
  const url = client.buildEndSessionUrl(config, { id_token_hint: id_token, post_logout_redirect_uri: home });
  request.logout((error) => (error ? next(error) : response.redirect(url.href)));
});
app.listen(Number(redirectUri.port));
