/** Stacks of no library in particular: any OpenID Connect library, and clients of the Model Context Protocol. */
import { claimsInIdToken, nonceInPlaceOfPkce, rs256, type Stack, type StackValues } from "./stack.ts";

/** Also what discovery tells, for libraries that are configured by hand. */
const addresses = ({
  issuer,
}: StackValues): string => `Discovery:              ${issuer}/.well-known/openid-configuration
Authorization endpoint: ${issuer}/authorize
Token endpoint:         ${issuer}/token
Userinfo endpoint:      ${issuer}/userinfo
JWKS:                   ${issuer}/.well-known/jwks.json
End session endpoint:   ${issuer}/end_session`;

/** The compatible one. PKCE is used when it is sent; RS256 is the one algorithm that every library knows. */
export const generic: Stack = {
  title: "OpenID Connect",
  clientType: "confidential",
  address: "http://localhost:3000",
  redirects: ["/callback"],
  postLogoutRedirects: ["/"],
  scopes: ["openid", "profile", "email", "offline_access"],
  auth: "client_secret_basic",
  settings: { ...nonceInPlaceOfPkce, ...rs256, ...claimsInIdToken },
  setup: (values) => [
    {
      file: "OpenID Connect",
      lines: `Issuer:                 ${values.issuer}
Client ID:              ${values.clientId}
Client secret:          ${values.clientSecret}
Client authentication:  client_secret_basic
Redirect URI:           ${values.redirectUri}
Scopes:                 ${values.scope}
Response type:          code, with PKCE (S256), or at least with a nonce
ID token algorithm:     RS256
${addresses(values)}`,
    },
  ],
};

/**
 * MCP clients are public and listen on a loopback port of their own choice (RFC 8252 §7.3). They name the MCP server as
 * `resource` (RFC 8707); older ones don't, so that it is the default audience as well.
 */
export const mcp: Stack = {
  title: "MCP (Model Context Protocol)",
  clientType: "native",
  address: "http://localhost:3000",
  redirects: [
    "http://127.0.0.1/callback",
    "http://localhost/callback",
    "http://localhost/oauth/callback",
    "http://127.0.0.1/",
  ],
  scopes: ["openid", "profile", "email", "offline_access"],
  resourcePath: "/mcp",
  setup: ({ issuer, clientId, resource, scope }) => [
    {
      file: `${new URL(resource).origin}/.well-known/oauth-protected-resource${new URL(resource).pathname}`,
      lines: JSON.stringify(
        { resource, authorization_servers: [issuer], scopes_supported: scope.split(" ") },
        null,
        2,
      ),
    },
    {
      file: "MCP server: checks of the access token (RFC 9068)",
      lines: `iss: ${issuer}
aud: ${resource}
JWKS: ${issuer}/.well-known/jwks.json`,
    },
    {
      file: "MCP client",
      lines: `Server URL: ${resource}
Client ID:  ${clientId}
claude mcp add --transport http --client-id ${clientId} --callback-port 8765 my-server '${resource}'`,
    },
  ],
};
