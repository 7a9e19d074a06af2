/**
 * An identity assertion for another authorization server (draft-ietf-oauth-identity-assertion-authz-grant): for an ID token of the
 * client's own, and a policy that names the server. It is no access token, lives five minutes, and says as whom the client is known there.
 */
import { randomUUID } from "node:crypto";
import { sha256Base64url } from "@signet/protocol/hash";
import { signJws } from "@signet/protocol/jose/jws";
import { isMlDsaAlg } from "@signet/protocol/jose/ml-dsa";
import { OAuthError } from "@signet/protocol/oauth/oauth-error";
import { formatScope, parseScope } from "@signet/protocol/oauth/scope";
import { mayUse } from "../../../../core/application-access/application-access.ts";
import { tokenExchangeGrantType } from "../../../../core/applications/application.ts";
import { recordAuditEvent } from "../../../../core/audit/audit.store.ts";
import { seconds } from "../../../../core/clock.ts";
import type { LedgerRecorder } from "../../../../core/ledger/recorder.ts";
import { grantableScopes } from "../../../../core/scopes/scopes.ts";
import { isEndedSession } from "../../../../core/sessions/sessions.store.ts";
import type { SigningKeys } from "../../../../core/signing-keys/signing-keys.ts";
import { applicationIssuer, type SigningPoolDirectory } from "../../../../core/signing-pools/directory.ts";
import { type IdTokenHintDeps, readIdTokenHint } from "../../../../core/tokens/id-token-hint.ts";
import type { PoolSigning } from "../../../../core/tokens/pool-signing.ts";
import {
  type MessageToSign,
  messageTypes,
  type SignedMessage,
} from "../../../../core/tokens/signed-message.ts";
import { hasActiveFamily } from "../../../../core/tokens/tokens.store.ts";
import { findUser } from "../../../../core/users/users.store.ts";
import type { GrantDeps, GrantRequest, OtherTokenResponse } from "../grant.ts";
import { type ExchangeRequest, exchangeDetails, ID_JAG } from "./exchange-request.ts";

export interface IdJagDeps extends GrantDeps, Omit<IdTokenHintDeps, "keys" | "signingPools"> {
  readonly signingPools: Pick<SigningPoolDirectory, "published" | "find">;
  readonly keys: Pick<SigningKeys, "published" | "signer">;
  readonly ledger: Pick<LedgerRecorder, "record">;
  readonly poolSigning: Pick<PoolSigning, "signMessage">;
}

const LIFETIME_SECONDS = 300;
const MAX_RESOURCES = 10;

/** @throws OAuthError invalid_request, invalid_scope, invalid_target */
export async function issueIdJag(
  deps: IdJagDeps,
  request: GrantRequest,
  { subjectToken, target, policies }: ExchangeRequest,
): Promise<OtherTokenResponse> {
  const { application, form, address } = request;
  const { orgId, id } = application;
  const [policy] = policies.filter(({ subjectClientIds: ids }) => ids.length === 0 || ids.includes(id));
  if (!policy) throw unacceptable("no policy is for tokens of its client");
  const idToken = await requireOwnIdToken(deps, request, subjectToken);
  const requested = form.values.has("scope") ? parseScope(form.values.get("scope") ?? "") : policy.scopes;
  const scopes = grantableScopes(requested ?? [], policy.scopes);
  if (scopes.length === 0)
    throw new OAuthError("invalid_scope", "none of the requested scopes is in the policy", {
      reason: "scope-not-allowed",
    });
  const now = deps.clock();
  const lifetime = Math.min(LIFETIME_SECONDS, policy.maxLifetimeSeconds);
  const resource = namedResources(request);
  const { sub, auth_time, acr, amr } = idToken;
  const iss = await applicationIssuer(deps, application);
  const message = {
    use: "id_jag",
    claims: {
      ...{ iss, sub, aud: target, client_id: policy.foreignClientId ?? id, scope: formatScope(scopes) },
      ...(resource === undefined ? {} : { resource }),
      ...{ auth_time, acr, amr },
    },
    lifetimeSeconds: lifetime,
  } as const;
  const { jws, exp } = await signed(deps, request, message, sha256Base64url(subjectToken));
  await recordAuditEvent(deps.database.query, {
    ...{ orgId, at: now, actor: `client:${id}`, action: "token.exchanged", target: String(sub), address },
    ...{ applicationId: id, details: exchangeDetails(policy, scopes, id) },
  });
  return {
    ...{ access_token: jws, issued_token_type: ID_JAG, token_type: "N_A" },
    ...{ expires_in: exp - seconds(deps.clock()), scope: formatScope(scopes) },
  };
}

/** By the agents of the client's pool, or by a local key: these never sign for an application with a pool. @throws OAuthError */
async function signed(
  deps: IdJagDeps,
  { application, address }: GrantRequest,
  message: MessageToSign,
  proofHash: string,
): Promise<SignedMessage> {
  const { orgId, settings } = application;
  const { claims, lifetimeSeconds = 0, use } = message;
  if (settings.signingPoolId !== undefined) {
    const named = claims["resource"] as string | readonly string[] | undefined;
    return deps.poolSigning.signMessage(message, {
      ...{ application, address, grantType: tokenExchangeGrantType, userId: String(claims["sub"]) },
      ...{ resources: named === undefined ? [] : [named].flat(), proofHash },
    });
  }
  const iat = seconds(deps.clock());
  const exp = iat + lifetimeSeconds;
  const payload = { ...claims, iat, exp, jti: randomUUID() };
  // ML-DSA is for tokens of this server's own readers: another server, ours among them (core/trusts), hardly knows it.
  const { idTokenSignedResponseAlg: own } = settings;
  const { alg, kid, privateKey } = await deps.keys.signer(orgId, isMlDsaAlg(own) ? "ES256" : own);
  const jws = await signJws({ alg, kid, privateKey, typ: messageTypes[use], payload });
  await deps.ledger.record(orgId, [{ kind: "id_jag", kid, jws }]);
  return { jws, exp };
}

const unacceptable = (cause: string) =>
  new OAuthError("invalid_request", "the subject_token cannot be exchanged", { cause });

/**
 * Of this client, unexpired, and of a user who is still active, signed in, and lets the client act: what was granted has not been
 * taken back. @throws OAuthError invalid_request
 */
async function requireOwnIdToken(
  deps: IdJagDeps,
  { organisation, application }: GrantRequest,
  token: string,
): Promise<Readonly<Record<string, unknown>>> {
  const claims = await readIdTokenHint(deps, organisation, token);
  if (!claims) throw unacceptable("not an ID token of this organisation");
  if (claims["aud"] !== application.id) throw unacceptable("an ID token for another client");
  if (!(Number(claims["exp"]) > seconds(deps.clock()))) throw unacceptable("the ID token has expired");
  const { query } = deps.database;
  const orgId = organisation.id;
  const user = await findUser(query, orgId, String(claims["sub"]));
  if (!user || user.disabledAt !== null || !(await mayUse(query, application, user.id)))
    throw unacceptable("its user is deleted, disabled or not assigned");
  if (!(await hasActiveFamily(query, { orgId, userId: user.id, applicationId: application.id })))
    throw unacceptable("what its user has granted has been revoked");
  const { sid } = claims;
  if (typeof sid === "string" && (await isEndedSession(query, { orgId, userId: user.id, id: sid })))
    throw unacceptable("its session has ended");
  return claims;
}

/** As the other server names them. @throws OAuthError invalid_target */
function namedResources({ form }: GrantRequest): string | readonly string[] | undefined {
  const first = form.values.get("resource");
  if (first === undefined) return undefined;
  const all = [...new Set(form.allValues.get("resource") ?? [first])];
  const isFine = (uri: string) => uri.length <= 2_048 && URL.canParse(uri) && !uri.includes("#");
  if (all.length > MAX_RESOURCES || !all.every(isFine))
    throw new OAuthError("invalid_target", "resource must be absolute URIs without fragment (RFC 8707 §2)", {
      reason: "resource-not-allowed",
    });
  return all.length === 1 ? first : all;
}
