/** Signed JWTs come in: what is checked, in this order, is sovereign-signing.md §6. */

import { agentAlgs } from "@signet/protocol/agent-signature";
import { recordAuditEvent } from "../../../../core/audit/audit.store.ts";
import { publicKeyOf } from "../../../../core/signing-pools/agent-key.ts";
import { findAgentKey, noteTokenExp } from "../../../../core/signing-pools/signing-pools.store.ts";
import type {
  AgentCaller,
  InvalidJwtReason,
  SignOutcome,
  Submission,
} from "../../agent-api/request-messages.ts";
import { requestTopic } from "../../notify/wake-up.ts";
import { countSignature } from "../count-signature.ts";
import type { SealedClaims } from "../create-request.ts";
import { currentRow } from "../expire-requests.ts";
import { countBadSubmission, type Lease, renderAgain, signRequest } from "../lease.store.ts";
import { leaseEvent, leaseOf, leaseRefusal } from "../lease.ts";
import type { RequestDeps } from "../request-deps.ts";
import { openJson, sealJson } from "../sealed-json.ts";
import type { SigningRequestRow } from "../signing-request.store.ts";
import { type ClaimsToSign, MOST_BAD_SUBMISSIONS, STALE_PAYLOAD_MS } from "../signing-request.ts";
import { newRendering, type RenderedTokens, type Rendering, renderTokens } from "./render-tokens.ts";
import { type CheckedJwts, checkSubmission, inputHashesOf, isRepeat } from "./submission.ts";
import { type UsableKey, usableKey } from "./usable-keys.ts";

/** What is kept of signed tokens until they are released. */
export interface SealedTokens {
  readonly jwts: CheckedJwts;
  /** Seconds since the epoch. */
  readonly iat: number;
  readonly exp: number;
}

/** Without a browser a signed token that nobody fetches is forgotten after so long; with one, as soon as its wait is over. */
const KEPT_MS = 120_000;

/**
 * What a key signed last is written down in steps, to the next minute: tokens that are signed at once would wait for each
 * other's write to the one row.
 */
const NOTED_MS = 60_000;

export async function sign(
  deps: RequestDeps,
  agent: AgentCaller,
  submission: Submission,
): Promise<SignOutcome> {
  const lease = leaseOf(agent, submission, deps.clock());
  const row = await currentRow(deps, lease);
  const refusal = leaseRefusal(row, lease);
  if (refusal === "already_final" && row && (await isRepeated(deps, row, lease, submission)))
    return { outcome: "signed" };
  if (refusal || !row?.rendering || row.kid === null) return { outcome: refusal ?? "lease_lost" };
  const { kid } = row;
  const found = await usableKey(deps, agent, { kids: [kid], algs: agentAlgs });
  // A key that was taken away meanwhile signs nothing: another claim chooses another one.
  if (!found) return { outcome: "lease_lost" };
  const { claims } = openJson<SealedClaims>(deps.encryption, lease, "claims", row.claims);
  const rendered = renderTokens(claims, found.key, JSON.parse(row.rendering) as Rendering);
  const checked = await checkSubmission(rendered.tokens, submission.jwts, {
    publicKey: found.publicKey,
    alg: found.key.alg,
  });
  if ("reason" in checked) return refuse(deps, lease, checked.reason);
  const leased = { row, lease, kid, claims, rendered, was: row.rendering };
  if (isStale(rendered, lease.now)) return handOutAgain(deps, leased, found);
  if (await keep(deps, leased, checked.jwts)) return { outcome: "signed" };
  const current = await currentRow(deps, lease);
  // The same lease's other hand was faster.
  if (current && (await isRepeated(deps, current, lease, submission))) return { outcome: "signed" };
  return { outcome: refusalNow(deps, current, lease) };
}

/** Also when half of a shorter life is over: whoever redeems it would have it signed anew at once. */
const isStale = ({ iat, exp }: RenderedTokens, now: number): boolean =>
  now - iat * 1000 > Math.min(STALE_PAYLOAD_MS, ((exp - iat) * 1000) / 2);

interface Leased {
  readonly row: SigningRequestRow;
  readonly lease: Lease;
  readonly kid: string;
  readonly claims: ClaimsToSign;
  readonly rendered: RenderedTokens;
  /** The rendering as it stands in the row. */
  readonly was: string;
}

async function keep(
  deps: RequestDeps,
  { row, lease, kid, rendered, was }: Leased,
  jwts: CheckedJwts,
): Promise<boolean> {
  const { orgId, requestId, now } = lease;
  const sealed: SealedTokens = { jwts, iat: rendered.iat, exp: rendered.exp };
  const exp = rendered.exp * 1000;
  const notedExp = (deps.notedExps.get(kid) ?? 0) >= exp ? undefined : Math.ceil(exp / NOTED_MS) * NOTED_MS;
  const isKept = await deps.database.transaction(async (tx) => {
    const isSigned = await signRequest(tx, {
      ...lease,
      rendering: was,
      signed: sealJson(deps.encryption, lease, "signed", sealed),
      inputHashes: JSON.stringify(inputHashesOf(rendered.tokens)),
      tokenIds: JSON.stringify({ access_token: rendered.jti }),
      tokenExp: exp,
      keptUntil: row.interactive === 1 ? Math.max(row.expires_at, now + KEPT_MS) : now + KEPT_MS,
    });
    if (!isSigned) return false;
    if (notedExp !== undefined) await noteTokenExp(tx, { orgId, kid, exp: notedExp });
    const details = {
      kid,
      client: row.application_id,
      grant: row.grant_type,
      jti: rendered.jti,
      ...(row.user_id === null ? {} : { user: row.user_id }),
    };
    await recordAuditEvent(tx, leaseEvent(lease, "signing-request.signed", details));
    return true;
  });
  if (!isKept) return false;
  if (notedExp !== undefined) deps.notedExps.set(kid, Math.max(notedExp, deps.notedExps.get(kid) ?? 0));
  countSignature(deps.count, lease, "signed");
  deps.wakeUp.wake(requestTopic(orgId, requestId));
  return true;
}

/** Somebody or the time was faster: what the row says now is the reason. */
const whyNot = async (deps: RequestDeps, lease: Lease) =>
  refusalNow(deps, await currentRow(deps, lease), lease);

const refusalNow = ({ clock }: RequestDeps, row: SigningRequestRow | undefined, lease: Lease) =>
  leaseRefusal(row, { ...lease, now: clock() }) ?? "lease_lost";

/** The lease goes on with a new iat, exp and jti; the claims are the same. */
async function handOutAgain(
  deps: RequestDeps,
  { lease, claims, was }: Leased,
  { key }: UsableKey,
): Promise<SignOutcome> {
  const pool = await deps.pools.find(lease.orgId, lease.poolId);
  if (!pool) return { outcome: "lease_lost" };
  const rendering = newRendering(lease.now, pool);
  const isNew = await renderAgain(deps.database.query, lease, was, JSON.stringify(rendering));
  return isNew
    ? { outcome: "stale_payload", tokens: renderTokens(claims, key, rendering).tokens }
    : { outcome: await whyNot(deps, lease) };
}

/** Bad JWTs are counted, whatever is bad about them; the third fails the request. */
async function refuse(deps: RequestDeps, lease: Lease, reason: InvalidJwtReason): Promise<SignOutcome> {
  // Between its two statements another bad one may have been counted.
  for (let attempt = 0; attempt < MOST_BAD_SUBMISSIONS; attempt++) {
    const counted = await deps.database.transaction(async (tx) => {
      const outcome = await countBadSubmission(tx, lease);
      if (outcome === "failed") await auditBadSignatures(tx, lease, reason);
      return outcome;
    });
    if (counted === "failed") {
      countSignature(deps.count, lease, "failed");
      deps.wakeUp.wake(requestTopic(lease.orgId, lease.requestId));
    }
    if (counted) return { outcome: "invalid_signed_jwt", reason };
  }
  return { outcome: await whyNot(deps, lease) };
}

const auditBadSignatures = (
  tx: Parameters<typeof recordAuditEvent>[0],
  lease: Lease,
  reason: InvalidJwtReason,
): Promise<void> =>
  recordAuditEvent(
    tx,
    leaseEvent(lease, "signing-request.failed", { reason: "bad_signatures", last: reason }),
  );

/**
 * The signing lease's own submission once more: its answer was lost. Signatures of one text differ each time, so it is
 * checked like the first, and nothing changes.
 */
async function isRepeated(
  deps: RequestDeps,
  row: SigningRequestRow,
  lease: Lease,
  { jwts }: Submission,
): Promise<boolean> {
  const isSignersOwn = row.claimed_by === lease.agentId && row.signed_lease_hash === lease.hash;
  if (!isSignersOwn || row.kid === null || row.input_hashes === null) return false;
  const key = await findAgentKey(deps.database.query, lease.orgId, row.kid);
  if (!key || key.compromisedAt !== null) return false;
  const hashes = JSON.parse(row.input_hashes) as Record<string, string>;
  return isRepeat(hashes, jwts, { publicKey: publicKeyOf(key), alg: key.alg });
}
