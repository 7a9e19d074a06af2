// passport-openidconnect, which has no PKCE and sends a nonce when told to, with the values that `app create --for generic` prints.
import express from "express";
import session from "express-session";
import passport from "passport";
import { Strategy } from "passport-openidconnect";
import { printedValues } from "./printed-values.mjs";

const printed = printedValues("OpenID Connect");
const strategy = new Strategy(
  {
    issuer: printed["Issuer"],
    authorizationURL: printed["Authorization endpoint"],
    tokenURL: printed["Token endpoint"],
    userInfoURL: printed["Userinfo endpoint"],
    clientID: printed["Client ID"],
    clientSecret: printed["Client secret"],
    callbackURL: printed["Redirect URI"],
    scope: printed["Scopes"].split(" ").filter((one) => one !== "openid"),
    nonce: true,
  },
  (_issuer, profile, verified) => verified(null, profile),
);
passport.use(strategy);
passport.serializeUser((user, done) => done(null, user));
passport.deserializeUser((user, done) => done(null, user));

const callback = new URL(printed["Redirect URI"]);
const app = express();
app.use(session({ secret: printed["Client secret"], resave: false, saveUninitialized: true }));
app.use(passport.authenticate("session"));
app.get("/", ({ user }, response) => response.json(user ?? null));
app.get("/login", passport.authenticate("openidconnect"));
app.get(callback.pathname, passport.authenticate("openidconnect", { successRedirect: "/" }));
app.listen(Number(process.argv[2]));
