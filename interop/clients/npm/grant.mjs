// Grant with the values that `app create --for generic` prints. It keeps the answer in the session.
import express from "express";
import session from "express-session";
import grant from "grant";
import { printedValues } from "./printed-values.mjs";

const printed = printedValues("OpenID Connect");
const { origin } = new URL(printed["Redirect URI"]);
const app = express();
app.use(session({ secret: printed["Client secret"], resave: false, saveUninitialized: true }));
app.use(
  grant.express({
    defaults: { origin, transport: "session", state: true, nonce: true, pkce: true },
    signet: {
      oauth: 2,
      authorize_url: printed["Authorization endpoint"],
      access_url: printed["Token endpoint"],
      profile_url: printed["Userinfo endpoint"],
      key: printed["Client ID"],
      secret: printed["Client secret"],
      token_endpoint_auth_method: printed["Client authentication"],
      scope: printed["Scopes"],
      redirect_uri: printed["Redirect URI"],
      callback: "/",
      response: ["tokens", "profile"],
    },
  }),
);
app.get("/", ({ session: { grant: kept } }, response) =>
  response.json(kept?.response?.profile ?? kept ?? null),
);
app.listen(Number(process.argv[2]));
