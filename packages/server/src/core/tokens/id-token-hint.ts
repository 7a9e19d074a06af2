/** Verifying an ID token that comes back as id_token_hint, expired or not (OpenID Connect Core §3.1.2.1). */
import { decodeJwsUnverified, verifyJws } from "@signet/protocol/jose/jws";
import type { ApplicationDirectory } from "../applications/applications.ts";
import { issuerOf, type Organisation } from "../organisations/organisation.ts";
import type { SigningKeys } from "../signing-keys/signing-keys.ts";
import { verifyAgentToken } from "../signing-pools/agent-key.ts";
import type { SigningPoolDirectory } from "../signing-pools/directory.ts";
import { signingPoolIssuer } from "../signing-pools/signing-pool.ts";

export interface IdTokenHintDeps {
  readonly baseUrl: string;
  readonly keys: Pick<SigningKeys, "published">;
  readonly signingPools: Pick<SigningPoolDirectory, "published">;
  readonly applications: Pick<ApplicationDirectory, "find">;
}

type Claims = Readonly<Record<string, unknown>>;

/** @returns the claims; undefined unless the organisation or the pool of its application signed the token */
export async function readIdTokenHint(
  deps: IdTokenHintDeps,
  organisation: Organisation,
  hint: string,
): Promise<Claims | undefined> {
  const { id: orgId } = organisation;
  const keys = await deps.keys.published(orgId);
  const own = verifyJws(hint, (kid, alg) => keys.find((key) => key.kid === kid && key.alg === alg), {
    typ: ["JWT"],
  });
  if (own) return isIdTokenOf(issuerOf(deps.baseUrl, orgId), own.payload) ? own.payload : undefined;
  return readAgentHint(deps, orgId, hint);
}

/**
 * An access token of the type JWT has a `client_id`, an ID token never; an authorization response (JARM) has no `sub`, and a signed
 * userinfo response no `exp`.
 */
const isIdTokenOf = (issuer: string, claims: Claims): boolean =>
  claims["iss"] === issuer &&
  typeof claims["sub"] === "string" &&
  typeof claims["exp"] === "number" &&
  !Object.hasOwn(claims, "client_id");

/** An agent's key is trusted for the applications of its pool only. */
async function readAgentHint(
  deps: IdTokenHintDeps,
  orgId: string,
  hint: string,
): Promise<Claims | undefined> {
  const kid = decodeJwsUnverified(hint)?.header["kid"];
  const published = (await deps.signingPools.published(orgId)).find(({ key }) => key.kid === kid);
  if (!published) return undefined;
  const { key, pool, publicKey } = published;
  const claims = verifyAgentToken(hint, { publicKey, alg: key.alg }, "JWT");
  const { aud } = claims ?? {};
  const issuer = signingPoolIssuer(deps.baseUrl, pool);
  if (!claims || !isIdTokenOf(issuer, claims) || typeof aud !== "string") return undefined;
  const application = await deps.applications.find(orgId, aud);
  return application?.settings.signingPoolId === pool.id ? claims : undefined;
}
