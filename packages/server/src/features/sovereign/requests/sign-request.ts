/** An agent submits the signed tokens: the checks of sovereign-signing.md §6, in that order. */
import { recordAuditEvent } from "../../../core/audit/audit.store.ts";
import { findAgentKey } from "../../../core/signing-pools/agent-key.store.ts";
import { publicKeyOf } from "../../../core/signing-pools/agent-key.ts";
import { poolTopic, requestTopic } from "../notify/wake-up.ts";
import type { ApprovalFault } from "./approvals/approval-plan.ts";
import { refuseApproval, signedApprovals } from "./approvals/approve-request.ts";
import { dropPlan } from "./approvals/claim-approval.store.ts";
import { type ClaimedTokens, claimedTokens, type FindKey, keyFinder } from "./claimed-tokens.ts";
import { currentRow, currentRows } from "./expire-requests.ts";
import {
  type Lease,
  type LeaseRefusal,
  type LeaseToken,
  leaseAuditEvent,
  leaseRefusal,
  presentedLease,
  refusalNow,
} from "./lease.ts";
import { saveSigned, type ValidSubmission } from "./save-signed.ts";
import { countBadSubmission, replaceRendering } from "./sign-request.store.ts";
import {
  checkJwts,
  type InvalidJwtReason,
  matchesInputHashes,
  newRendering,
  type RenderedTokens,
  renderTokens,
  type SubmittedJwts,
} from "./signing-input.ts";
import type { SigningRequestRow } from "./signing-request.store.ts";
import {
  type AgentCaller,
  countSignature,
  MAX_BAD_SUBMISSIONS,
  type RenderedToken,
  type SigningDeps,
  STALE_PAYLOAD_MS,
  type TokenUse,
} from "./signing-request.ts";

export type SignOutcome =
  | { readonly outcome: "signed" | LeaseRefusal }
  | { readonly outcome: "stale_payload"; readonly tokens: readonly RenderedToken[] }
  | { readonly outcome: "invalid_signed_jwt"; readonly reason: InvalidJwtReason }
  | { readonly outcome: "invalid_approval"; readonly reason: ApprovalFault };

export type Submission = LeaseToken & {
  readonly jwts: SubmittedJwts;
  /** In place of `jwts`, where there is one token or message. */
  readonly only?: unknown;
  /** The signing agent's own, where the pool wants several agents'. */
  readonly approval?: unknown;
};

export async function signRequest(
  deps: SigningDeps,
  agent: AgentCaller,
  submission: Submission,
): Promise<SignOutcome> {
  const [outcome] = await signRequests(deps, agent, [submission]);
  return outcome ?? { outcome: "not_found" };
}

/** Each is judged by itself; what is valid is stored in one transaction. @returns in the same order */
export async function signRequests(
  deps: SigningDeps,
  agent: AgentCaller,
  submissions: readonly Submission[],
): Promise<SignOutcome[]> {
  const now = deps.clock();
  const rows = await currentRows(deps, agent.orgId, submissions);
  const findKey = keyFinder(deps, agent);
  const faults: unknown[] = [];
  const judged = await Promise.all(
    submissions.map(({ jwts, only, approval, ...token }) => {
      const lease = presentedLease(agent, token, now);
      const row = rows.get(lease.requestId);
      return judge(deps, { lease, row, jwts, only, approval, findKey }).catch((error: unknown) => {
        faults.push(error);
        return { outcome: "lease_lost" } as const;
      });
    }),
  );
  const valid = judged.filter((one) => "checked" in one);
  // One that can't be opened keeps none of the others from being stored.
  if (valid.length === 0 && faults.length > 0) throw faults[0];
  const saved = valid.length === 0 ? new Set() : await saveSigned(deps, valid);
  return Promise.all(
    judged.map((one, index): Promise<SignOutcome> | SignOutcome => {
      if ("outcome" in one) return one;
      if (saved.has(one)) return { outcome: "signed" };
      return whyNotSaved(deps, one.lease, submissions[index] ?? { jwts: {} });
    }),
  );
}

type Jwts = Pick<Submission, "jwts" | "only">;

interface Presented extends Jwts {
  readonly lease: Lease;
  readonly row: SigningRequestRow | undefined;
  readonly approval: unknown;
  readonly findKey: FindKey;
}

async function judge(
  deps: SigningDeps,
  { lease, row, approval, findKey, ...submitted }: Presented,
): Promise<SignOutcome | ValidSubmission> {
  const refusal = leaseRefusal(row, lease);
  if (refusal === "already_final" && row && (await isRepeated(deps, row, lease, submitted)))
    return { outcome: "signed" };
  if (refusal || !row) return { outcome: refusal ?? "lease_lost" };

  const claimed = await claimedTokens(deps, row, findKey);
  if (!claimed) return { outcome: "lease_lost" };
  const { publicKey, key, rendered } = claimed;
  const jwts = jwtsByUse(submitted, rendered.tokens);
  const checked = await checkJwts(rendered.tokens, jwts, { publicKey, alg: key.alg });
  if ("reason" in checked) return refuseJwts(deps, lease, checked.reason);
  const pool = await deps.pools.find(lease.orgId, lease.poolId);
  const isAlone = pool === undefined || pool.approvals === 1;
  if (isStale(rendered, lease.now))
    return isAlone ? reissueStale(deps, lease, claimed) : restartApprovals(deps, lease);
  if (isAlone) return { lease, claimed, checked: checked.jwts };
  const approved = await signedApprovals(deps, lease, {
    ...{ row, required: pool.approvals, approval },
    ...{ requestId: lease.requestId, tokens: rendered.tokens },
  });
  if (typeof approved === "string") return refuseApproval(deps, lease, approved);
  return { lease, claimed, checked: checked.jwts, approved };
}

/** Approvals are of bytes that nobody may sign any more. */
async function restartApprovals(deps: SigningDeps, lease: Lease): Promise<SignOutcome> {
  if (await dropPlan(deps.database.query, lease))
    deps.wakeUp.notify(poolTopic(lease.orgId, lease.poolId), requestTopic(lease.orgId, lease.requestId));
  return { outcome: "lease_lost" };
}

const jwtsByUse = (
  { jwts, only }: Jwts,
  expected: ReadonlyArray<{ readonly use: TokenUse }>,
): SubmittedJwts => (only === undefined ? jwts : { [expected[0]?.use ?? "access_token"]: only });

/** A simultaneous call with the same lease may have been first. */
async function whyNotSaved(deps: SigningDeps, lease: Lease, submitted: Jwts): Promise<SignOutcome> {
  const current = await currentRow(deps, lease);
  if (current && (await isRepeated(deps, current, lease, submitted))) return { outcome: "signed" };
  return { outcome: leaseRefusal(current, { ...lease, now: deps.clock() }) ?? "lease_lost" };
}

/** Older than two minutes, or than half of a short lifetime: a code for such a token would have it signed anew at once. */
const isStale = ({ iat, exp }: RenderedTokens, now: number): boolean =>
  now - iat * 1000 > Math.min(STALE_PAYLOAD_MS, ((exp - iat) * 1000) / 2);

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
  submitted: Jwts,
): Promise<boolean> {
  const isSigner = row.claimed_by === lease.agentId && row.signed_lease_hash === lease.hash;
  if (!isSigner || row.kid === null || row.input_hashes === null) return false;
  const key = await findAgentKey(deps.database.query, lease.orgId, row.kid);
  if (!key || key.compromisedAt !== null) return false;
  const hashes = JSON.parse(row.input_hashes) as Record<TokenUse, string>;
  const [use = "access_token"] = Object.keys(hashes) as TokenUse[];
  const jwts = jwtsByUse(submitted, [{ use }]);
  return matchesInputHashes(hashes, jwts, { publicKey: publicKeyOf(key), alg: key.alg });
}
