import { createHash } from "node:crypto";
import type { Provider } from "oidc-provider";
import { peerClient, peerResource } from "./peer-client.ts";
import { codeVerifier, redirectUri, type SeedKind } from "./works.ts";

const accountId = "bench-user";

/**
 * Makes codes, refresh tokens or access tokens through the peer's own models, each under a grant of its own, as if a
 * user had signed in for each. Access tokens are opaque: the peer does not introspect JWTs. What lay in `store` before
 * is dropped, so that the peer never drags along what earlier intervals left.
 */
export async function seedPeer(
  peer: Provider,
  store: Map<string, unknown>,
  kind: SeedKind,
  count: number,
): Promise<string[]> {
  store.clear();
  const client = await peer.Client.find(peerClient.client_id);
  const scope = kind === "code" ? "openid offline_access read" : "offline_access read";
  const values: string[] = [];
  for (let index = 0; index < count; index += 1) {
    const grant = new peer.Grant({ accountId, clientId: peerClient.client_id });
    grant.addOIDCScope("openid offline_access");
    grant.addResourceScope(peerResource, "read");
    const common = { accountId, client, scope, grantId: await grant.save(), gty: "authorization_code" };
    const source = { ...common, resource: peerResource, authTime: Math.floor(Date.now() / 1000) };
    if (kind === "code") values.push(await new peer.AuthorizationCode({ ...source, ...codeBinding }).save());
    else if (kind === "refresh_token")
      values.push(await new peer.RefreshToken({ ...source, rotations: 0 }).save());
    else values.push(await new peer.AccessToken(common).save());
  }
  return values;
}

const codeBinding = {
  redirectUri,
  codeChallenge: createHash("sha256").update(codeVerifier).digest("base64url"),
  codeChallengeMethod: "S256",
};
