import { generateKeyPairSync } from "node:crypto";
import { Provider } from "oidc-provider";
import { createMemoryAdapter } from "oidc-provider/lib/adapters/memory_adapter.js";
import { peerClient, peerResource } from "./peer-client.ts";
import { redirectUri } from "./works.ts";

const hour = 3600;

/**
 * oidc-provider with its in-memory adapter: ES256 throughout, JWT access tokens, rotation at every refresh. The
 * adapter keeps 1,000 entries by default and would drop prepared codes, so it gets a Map, which is cheaper as well.
 */
export function createPeer(issuer: string, store: Map<string, unknown>): Provider {
  const adapterOf = createMemoryAdapter();
  return new Provider(issuer, {
    adapter: (model: string) => Object.assign(adapterOf(model), { store }),
    clients: [
      {
        ...peerClient,
        redirect_uris: [redirectUri],
        grant_types: ["authorization_code", "refresh_token", "client_credentials"],
        response_types: ["code"],
        token_endpoint_auth_method: "client_secret_post",
        id_token_signed_response_alg: "ES256",
      },
    ],
    jwks: { keys: [signingKey()] },
    cookies: { keys: ["bench"] },
    scopes: ["openid", "offline_access", "read"],
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      introspection: { enabled: true },
      revocation: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => peerResource,
        useGrantedResource: () => true,
        getResourceServerInfo: () => ({
          scope: "read",
          accessTokenTTL: hour,
          accessTokenFormat: "jwt",
          jwt: { sign: { alg: "ES256" } },
        }),
      },
    },
    findAccount: (_context: unknown, id: string) => ({ accountId: id, claims: () => ({ sub: id }) }),
    issueRefreshToken: () => true,
    expiresWithSession: () => false,
    rotateRefreshToken: true,
    ttl: {
      AccessToken: hour,
      AuthorizationCode: hour,
      ClientCredentials: hour,
      Grant: hour,
      IdToken: hour,
      RefreshToken: hour,
    },
  });
}

function signingKey() {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  return { ...privateKey.export({ format: "jwk" }), alg: "ES256", use: "sig", kid: "bench" };
}
