import { createHash, generateKeyPairSync } from "node:crypto";
import { Provider } from "oidc-provider";
import MemoryAdapter from "oidc-provider/lib/adapters/memory_adapter.js";
import { peerClient, peerResource } from "./peer-client.ts";
import { codeVerifier, redirectUri, type SeedKind } from "./rows.ts";

const hour = 3600;
const accountId = "bench-user";

/**
 * oidc-provider with its in-memory adapter: ES256 throughout, JWT access tokens, rotation at every refresh. Its store
 * keeps 1,000 entries by default and would drop prepared codes, so it gets a Map instead, which is cheaper as well.
 */
export function createPeer(issuer: string): Provider {
  const store = new Map<string, unknown>();
  return new Provider(issuer, {
    adapter: (model: string) => new MemoryAdapter(model, store),
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

/**
 * Makes codes, refresh tokens or access tokens through the peer's own models, each under a grant of its own, as if a
 * user had signed in for each. Access tokens are opaque: the peer does not introspect JWTs.
 */
export async function seedPeer(peer: Provider, kind: SeedKind, count: number): Promise<string[]> {
  const client = await peer.Client.find(peerClient.client_id);
  const scope = kind === "code" ? "openid offline_access read" : "offline_access read";
  const values: string[] = [];
  for (let index = 0; index < count; index += 1) {
    const grant = new peer.Grant({ accountId, clientId: peerClient.client_id });
    grant.addOIDCScope("openid offline_access");
    grant.addResourceScope(peerResource, "read");
    const common = { accountId, client, scope, grantId: await grant.save(), gty: "authorization_code" };
    const source = { ...common, resource: peerResource, authTime: Math.floor(Date.now() / 1000) };
    if (kind === "code")
      values.push(await new peer.AuthorizationCode({ ...source, ...codeBinding() }).save());
    else if (kind === "refresh_token")
      values.push(await new peer.RefreshToken({ ...source, rotations: 0 }).save());
    else values.push(await new peer.AccessToken(common).save());
  }
  return values;
}

function codeBinding() {
  const codeChallenge = createHash("sha256").update(codeVerifier).digest("base64url");
  return { redirectUri, codeChallenge, codeChallengeMethod: "S256" };
}

function signingKey() {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  return { ...privateKey.export({ format: "jwk" }), alg: "ES256", use: "sig", kid: "bench" };
}
