/** An agent submits the signed tokens: the checks of sovereign-signing.md §6, in that order. */
import { agentAlgs } from "@signet/protocol/agent-signature";
import { recordAuditEvent } from "../../../core/audit/audit.store.ts";
import { findAgentKey, recordTokenExp } from "../../../core/signing-pools/agent-key.store.ts";
import { publicKeyOf } from "../../../core/signing-pools/agent-key.ts";
import { findUsableKey } from "../../../core/signing-pools/usable-key.ts";
import { requestTopic } from "../notify/wake-up.ts";
import { currentRow } from "./expire-requests.ts";
import {
  type Lease,
  type LeaseRefusal,
  type LeaseToken,
  leaseAuditEvent,
  leaseRefusal,
  presentedLease,
  refusalNow,
} from "./lease.ts";
import { countBadSubmission, replaceRendering, storeSigned } from "./sign-request.store.ts";
import {
  type CheckedJwts,
  checkJwts,
  type InvalidJwtReason,
  inputHashes,
  matchesInputHashes,
  newRendering,
  type RenderedTokens,
  type Rendering,
  renderTokens,
  type SubmittedJwts,
} from "./signing-input.ts";
import { openColumn, type SigningRequestRow } from "./signing-request.store.ts";
import {
  type AgentCaller,
  countSignature,
  MAX_BAD_SUBMISSIONS,
  type RenderedToken,
  type SealedClaims,
  type SigningDeps,
  STALE_PAYLOAD_MS,
  sealJson,
} from "./signing-request.ts";

export type SignOutcome =
  | { readonly outcome: "signed" | LeaseRefusal }
  | { readonly outcome: "stale_payload"; readonly tokens: readonly RenderedToken[] }
  | { readonly outcome: "invalid_signed_jwt"; readonly reason: InvalidJwtReason };

/** The `signed` column, until the tokens are released. */
export interface SealedTokens {
  readonly jwts: CheckedJwts;
  /** Seconds since the epoch. */
  readonly iat: number;
  readonly exp: number;
}

/** How long signed tokens wait to be fetched; with a browser at least until its wait is over. */
const RETENTION_MS = 120_000;

/** A key's `last_token_exp` is rounded up to the minute, so that simultaneous signatures don't all write its row. */
const RECORDED_EXP_STEP_MS = 60_000;

export async function signRequest(
  deps: SigningDeps,
  agent: AgentCaller,
  submission: LeaseToken & { readonly jwts: SubmittedJwts },
): Promise<SignOutcome> {
  const lease = presentedLease(agent, submission, deps.clock());
  const row = await currentRow(deps, lease);
  const refusal = leaseRefusal(row, lease);
  if (refusal === "already_final" && row && (await isRepeated(deps, row, lease, submission.jwts)))
    return { outcome: "signed" };
  if (refusal || !row) return { outcome: refusal ?? "lease_lost" };

  const claimed = await claimedTokens(deps, agent, row);
  if (!claimed) return { outcome: "lease_lost" };
  const { publicKey, key, rendered } = claimed;
  const checked = await checkJwts(rendered.tokens, submission.jwts, { publicKey, alg: key.alg });
  if ("reason" in checked) return refuseJwts(deps, lease, checked.reason);
  if (isStale(rendered, lease.now)) return reissueStale(deps, lease, claimed);
  if (await saveSigned(deps, lease, claimed, checked.jwts)) return { outcome: "signed" };

  // A simultaneous call with the same lease may have been first.
  const current = await currentRow(deps, lease);
  if (current && (await isRepeated(deps, current, lease, submission.jwts))) return { outcome: "signed" };
  return { outcome: leaseRefusal(current, { ...lease, now: deps.clock() }) ?? "lease_lost" };
}

/**
 * The tokens as they were rendered at the claim.
 * @returns undefined when the key was retired since then: it signs nothing, and the next claim chooses another
 */
export async function claimedTokens(deps: SigningDeps, agent: AgentCaller, row: SigningRequestRow) {
  if (row.rendering === null || row.kid === null) return undefined;
  const usable = await findUsableKey(deps, agent, { kids: [row.kid], algs: agentAlgs });
  if (!usable) return undefined;
  const { claims } = openColumn<SealedClaims>(deps, row, "claims");
  const rendered = renderTokens(claims, usable.key, JSON.parse(row.rendering) as Rendering);
  return { row, storedRendering: row.rendering, ...usable, claims, rendered };
}

/** Older than two minutes, or than half of a short lifetime: a code for such a token would have it signed anew at once. */
const isStale = ({ iat, exp }: RenderedTokens, now: number): boolean =>
  now - iat * 1000 > Math.min(STALE_PAYLOAD_MS, ((exp - iat) * 1000) / 2);

type ClaimedTokens = NonNullable<Awaited<ReturnType<typeof claimedTokens>>>;

async function saveSigned(
  deps: SigningDeps,
  lease: Lease,
  { row, key: { kid }, storedRendering, rendered }: ClaimedTokens,
  jwts: CheckedJwts,
): Promise<boolean> {
  const { orgId, requestId, now } = lease;
  const { iat, jti } = rendered;
  const sealed: SealedTokens = { jwts, iat, exp: rendered.exp };
  const exp = rendered.exp * 1000;
  const isRecorded = (deps.recordedExps.get(kid) ?? 0) >= exp;
  const recordedExp = Math.ceil(exp / RECORDED_EXP_STEP_MS) * RECORDED_EXP_STEP_MS;
  const isSaved = await deps.database.transaction(async (tx) => {
    const isSigned = await storeSigned(tx, {
      ...lease,
      rendering: storedRendering,
      signed: sealJson(deps.encryption, lease, "signed", sealed),
      inputHashes: JSON.stringify(inputHashes(rendered.tokens)),
      tokenIds: JSON.stringify({ access_token: jti }),
      tokenExp: exp,
      keptUntil: row.interactive === 1 ? Math.max(row.expires_at, now + RETENTION_MS) : now + RETENTION_MS,
    });
    if (!isSigned) return false;
    if (!isRecorded) await recordTokenExp(tx, { orgId, kid, exp: recordedExp });
    const user = row.user_id === null ? {} : { user: row.user_id };
    const details = { kid, client: row.application_id, grant: row.grant_type, jti, ...user };
    await recordAuditEvent(tx, leaseAuditEvent(lease, "signing-request.signed", details));
    return true;
  });
  if (!isSaved) return false;
  if (!isRecorded) deps.recordedExps.set(kid, Math.max(recordedExp, deps.recordedExps.get(kid) ?? 0));
  countSignature(deps.count, lease, "signed");
  deps.wakeUp.notify(requestTopic(orgId, requestId));
  return true;
}

/** The lease continues with a new `iat`, `exp` and `jti`; the claims are the same. */
async function reissueStale(
  deps: SigningDeps,
  lease: Lease,
  { storedRendering, claims, key }: ClaimedTokens,
): Promise<SignOutcome> {
  const pool = await deps.pools.find(lease.orgId, lease.poolId);
  if (!pool) return { outcome: "lease_lost" };
  const rendering = newRendering(lease.now, pool);
  if (await replaceRendering(deps.database.query, lease, storedRendering, JSON.stringify(rendering)))
    return { outcome: "stale_payload", tokens: renderTokens(claims, key, rendering).tokens };
  return { outcome: await refusalNow(deps, lease) };
}

/** Counts the bad submission; the third fails the request. */
async function refuseJwts(deps: SigningDeps, lease: Lease, reason: InvalidJwtReason): Promise<SignOutcome> {
  // Another bad submission may be counted between the two statements of one attempt.
  for (let attempt = 0; attempt < MAX_BAD_SUBMISSIONS; attempt++) {
    const counted = await deps.database.transaction(async (tx) => {
      const outcome = await countBadSubmission(tx, lease);
      const details = { reason: "bad_signatures", last: reason };
      if (outcome === "failed")
        await recordAuditEvent(tx, leaseAuditEvent(lease, "signing-request.failed", details));
      return outcome;
    });
    if (counted === "failed") {
      countSignature(deps.count, lease, "failed");
      deps.wakeUp.notify(requestTopic(lease.orgId, lease.requestId));
    }
    if (counted) return { outcome: "invalid_signed_jwt", reason };
  }
  return { outcome: await refusalNow(deps, lease) };
}

/**
 * Whether the lease that signed submits again, because its response was lost. ECDSA signatures differ each time, so these
 * are verified like the first.
 */
async function isRepeated(
  deps: SigningDeps,
  row: SigningRequestRow,
  lease: Lease,
  jwts: SubmittedJwts,
): Promise<boolean> {
  const isSigner = row.claimed_by === lease.agentId && row.signed_lease_hash === lease.hash;
  if (!isSigner || row.kid === null || row.input_hashes === null) return false;
  const key = await findAgentKey(deps.database.query, lease.orgId, row.kid);
  if (!key || key.compromisedAt !== null) return false;
  const hashes = JSON.parse(row.input_hashes) as Record<string, string>;
  return matchesInputHashes(hashes, jwts, { publicKey: publicKeyOf(key), alg: key.alg });
}
