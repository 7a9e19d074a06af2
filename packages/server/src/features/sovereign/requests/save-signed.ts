/** Stores valid signatures, all of them in one transaction with their audit events. */

import { approvalHash } from "@signet/protocol/approvals/approval";
import { type EntryKind, entryKinds } from "@signet/protocol/ledger/entry";
import { recordAuditEvents } from "../../../core/audit/audit.store.ts";
import type { RecordedSignature } from "../../../core/ledger/recorder.ts";
import { recordTokenExp } from "../../../core/signing-pools/agent-key.store.ts";
import type { Db } from "../../../db/open.ts";
import { histogram } from "../../../telemetry/families.ts";
import { currentTracing } from "../../../telemetry/tracing.ts";
import { requestTopic } from "../notify/wake-up.ts";
import type { GivenApproval } from "./approvals/approval-plan.ts";
import type { ClaimedTokens } from "./claimed-tokens.ts";
import { type Lease, leaseAuditEvent } from "./lease.ts";
import { storeSigned } from "./sign-request.store.ts";
import { type CheckedJwts, inputHashes } from "./signing-input.ts";
import { countSignature, LEASE_MS, type SigningDeps, sealJson } from "./signing-request.ts";

const waited = histogram(
  {
    name: "signet_signing_request_wait_seconds",
    help: "Time from a signing request to the signature of an agent",
  },
  [],
  [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300],
);

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

/** Signatures that verify, and the tokens that they sign. */
export interface ValidSubmission {
  readonly lease: Lease;
  readonly claimed: ClaimedTokens;
  readonly checked: CheckedJwts;
  /** The agents that signed together, with a group key. */
  readonly signers?: readonly string[];
  /** Of the agents that approved it, the one that signed last. */
  readonly approved?: readonly GivenApproval[];
}

/** @returns those that were saved: the lease and everything else was still valid */
export async function saveSigned(
  deps: SigningDeps,
  valid: readonly ValidSubmission[],
): Promise<ReadonlySet<ValidSubmission>> {
  const exps = unrecordedExps(deps, valid);
  const waits: number[] = [];
  const saved = await deps.database.transaction(async (tx) => {
    const stored: ValidSubmission[] = [];
    for (const one of inLockOrder(valid)) {
      const since = await storeSigned(tx, signedRow(deps, one), one.signers !== undefined);
      if (since === undefined) continue;
      waits.push(one.lease.now - since);
      stored.push(one);
    }
    for (const [kid, exp] of inKeyOrder(exps)) {
      const first = stored.find(({ claimed }) => claimed.key.kid === kid);
      if (first === undefined) continue;
      await recordTokenExp(tx, { orgId: first.lease.orgId, kid, exp: exp.at });
      exp.isWritten = true;
    }
    await recordAuditEvents(tx, stored.map(signedEvent));
    await recordInLedger(deps, tx, stored);
    return new Set(stored);
  });
  for (const [kid, { at, isWritten }] of exps)
    if (isWritten) deps.recordedExps.set(kid, Math.max(at, deps.recordedExps.get(kid) ?? 0));
  for (const milliseconds of waits) waited.observe(milliseconds / 1_000);
  for (const one of saved) traceSignature(one);
  for (const { lease } of saved) countSignature(deps.count, lease, "signed");
  deps.wakeUp.notify(...[...saved].map(({ lease }) => requestTopic(lease.orgId, lease.requestId)));
  return saved;
}

/** In the order of organisation and pool; those of one call are of one agent, and so of one pool. */
async function recordInLedger(
  { ledger }: SigningDeps,
  tx: Db,
  stored: readonly ValidSubmission[],
): Promise<void> {
  const pools = Map.groupBy(stored, ({ lease: { orgId, poolId } }) => `${orgId} ${poolId}`);
  for (const ofPool of pools.values()) {
    const [first] = ofPool;
    if (first) await ledger.recordIn(tx, first.lease, ofPool.flatMap(signaturesOf));
  }
}

/** Answers to introspection and userinfo are not in the ledger: see signed-answer.ts. */
function signaturesOf({ claimed: { key }, checked, approved = [] }: ValidSubmission): RecordedSignature[] {
  const approvals = approved.map(({ approval }) => approvalHash(approval));
  return Object.entries(checked).flatMap(([use, jws]) => {
    const kind = entryKinds.find((one): one is EntryKind => one === use);
    return kind === undefined ? [] : [{ kind, kid: key.kid, jws, approvals }];
  });
}

/**
 * The agent's part, from its claim to now, in the trace of the request that waits: an agent may sign for many in one call, and what it
 * says of traces is not believed.
 */
function traceSignature({ lease, claimed: { row, traceParent } }: ValidSubmission): void {
  if (traceParent === undefined || row.lease_until === null) return;
  const milliseconds = Math.max(0, lease.now - (row.lease_until - LEASE_MS));
  currentTracing()?.past("agent", { parent: traceParent, milliseconds });
}

/** Two calls with the same requests in another order would wait for each other's rows. */
const inLockOrder = (valid: readonly ValidSubmission[]): ValidSubmission[] =>
  valid.toSorted(({ lease: { requestId: one } }, { lease: { requestId: other } }) =>
    one === other ? 0 : one < other ? -1 : 1,
  );

/** The same of keys: an agent may sign with several. */
const inKeyOrder = <Exp>(exps: ReadonlyMap<string, Exp>): Array<[string, Exp]> =>
  [...exps].toSorted(([one], [other]) => (one < other ? -1 : 1));

/** By key, what its `last_token_exp` must be raised to before one of these tokens is out. */
function unrecordedExps({ recordedExps }: SigningDeps, valid: readonly ValidSubmission[]) {
  const exps = new Map<string, { at: number; isWritten: boolean }>();
  for (const { claimed } of valid) {
    const { kid } = claimed.key;
    const exp = claimed.rendered.exp * 1000;
    if ((recordedExps.get(kid) ?? 0) >= exp) continue;
    const at = Math.ceil(exp / RECORDED_EXP_STEP_MS) * RECORDED_EXP_STEP_MS;
    exps.set(kid, { at: Math.max(at, exps.get(kid)?.at ?? 0), isWritten: false });
  }
  return exps;
}

function signedRow({ encryption }: SigningDeps, { lease, claimed, checked }: ValidSubmission) {
  const { row, storedRendering, rendered } = claimed;
  const { iat, exp, jti } = rendered;
  const sealed: SealedTokens = { jwts: checked, iat, exp };
  const keptUntil = lease.now + RETENTION_MS;
  return {
    ...lease,
    rendering: storedRendering,
    signed: sealJson(encryption, lease, "signed", sealed),
    inputHashes: JSON.stringify(inputHashes(rendered.tokens)),
    tokenIds: JSON.stringify(jti === undefined ? {} : { [rendered.tokens[0]?.use ?? "access_token"]: jti }),
    tokenExp: exp * 1000,
    keptUntil: row.interactive === 1 ? Math.max(row.expires_at, keptUntil) : keptUntil,
  };
}

function signedEvent({ lease, claimed, signers, approved }: ValidSubmission) {
  const { row, key, rendered } = claimed;
  const user = row.user_id === null ? {} : { user: row.user_id };
  const token = { kid: key.kid, client: row.application_id, grant: row.grant_type };
  const id = rendered.jti === undefined ? {} : { jti: rendered.jti };
  const uses = rendered.tokens.map(({ use }) => use);
  const message = uses.includes("access_token") ? {} : { uses };
  const all = signers ?? approved?.map(({ agentId }) => agentId);
  const together = all ? { signers: all } : {};
  const details = { ...token, ...id, ...message, ...user, ...together };
  const event = leaseAuditEvent(lease, "signing-request.signed", details);
  return signers ? { ...event, actor: `agent:${signers[0]}` } : event;
}
