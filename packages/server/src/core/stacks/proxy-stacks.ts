/** Proxies that sign people in, in front of applications. */
import { randomSecret } from "@signet/protocol/hash";
import { claimsInIdToken, rs256, type Stack } from "./stack.ts";

/** Sends PKCE only when told to. It verifies RS256 unless it is told otherwise, and looks for groups in the ID token. */
export const oauth2Proxy: Stack = {
  title: "oauth2-proxy",
  clientType: "confidential",
  address: "http://localhost:4180",
  redirects: ["/oauth2/callback"],
  postLogoutRedirects: ["/"],
  scopes: ["openid", "profile", "email", "groups"],
  auth: "client_secret_basic",
  settings: { ...rs256, ...claimsInIdToken },
  setup: ({ issuer, clientId, clientSecret, redirectUri, scope }) => [
    {
      file: "oauth2-proxy.cfg",
      lines: `provider = "oidc"
provider_display_name = "Signet"
oidc_issuer_url = "${issuer}"
client_id = "${clientId}"
client_secret = "${clientSecret}"
redirect_url = "${redirectUri}"
scope = "${scope}"
code_challenge_method = "S256"
oidc_groups_claim = "groups"
# allowed_groups = ["staff"]
# Where its sign-out may send browsers: Signet's.
whitelist_domains = ["${new URL(issuer).host}"]
email_domains = ["*"]
cookie_secret = "${randomSecret("")}"
cookie_secure = ${redirectUri.startsWith("https:")}
upstreams = ["http://127.0.0.1:8000"]`,
    },
    {
      file: "Sign out, with the ID token's hint left out: Signet asks for confirmation",
      lines: `/oauth2/sign_out?rd=${encodeURIComponent(`${issuer}/end_session?client_id=${clientId}`)}`,
    },
  ],
};

/** mod_auth_openidc sends a nonce always, PKCE when told to. Claims come from userinfo and the ID token. */
export const apache: Stack = {
  title: "Apache (mod_auth_openidc)",
  clientType: "confidential",
  address: "http://localhost",
  redirects: ["/secure/redirect_uri"],
  postLogoutRedirects: ["/"],
  scopes: ["openid", "profile", "email"],
  auth: "client_secret_basic",
  settings: claimsInIdToken,
  setup: ({ issuer, clientId, clientSecret, redirectUri, scope }) => [
    {
      file: "auth_openidc.conf",
      lines: `OIDCProviderMetadataURL ${issuer}/.well-known/openid-configuration
OIDCClientID ${clientId}
OIDCClientSecret ${clientSecret}
OIDCProviderTokenEndpointAuth client_secret_basic
OIDCRedirectURI ${redirectUri}
OIDCScope "${scope}"
OIDCPKCEMethod S256
OIDCIDTokenSignedResponseAlg ES256
OIDCRemoteUserClaim email
OIDCCryptoPassphrase ${randomSecret("")}
<Location ${new URL(redirectUri).pathname.replace(/\/[^/]*$/, "") || "/"}>
  AuthType openid-connect
  Require valid-user
</Location>`,
    },
  ],
};
