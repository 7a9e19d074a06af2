/**
 * Agents hand in their shares. The last one of a round completes the signature, which is verified like any other before it is stored; of a
 * signature that is none, the agent with the wrong share is named and excluded, and the request gets another round.
 */
import { aggregateShares, type SignatureShare } from "@signet/protocol/threshold/shares";
import { recordAuditEvent } from "../../../core/audit/audit.store.ts";
import { poolTopic, requestTopic } from "../notify/wake-up.ts";
import { type ClaimedTokens, claimedTokens } from "../requests/claimed-tokens.ts";
import { currentRow, currentRows } from "../requests/expire-requests.ts";
import { type Lease, leaseAuditEvent, presentedLease } from "../requests/lease.ts";
import type { rejectReasons } from "../requests/reject-request.ts";
import { saveSigned, type ValidSubmission } from "../requests/save-signed.ts";
import type { CheckedJwts } from "../requests/signing-input.ts";
import type { SigningRequestRow } from "../requests/signing-request.store.ts";
import { type AgentCaller, countSignature, type FailReason } from "../requests/signing-request.ts";
import type { GroupKey } from "./group-keys.ts";
import { excludeMember } from "./member.store.ts";
import {
  answerParts,
  endRound,
  failForGood,
  listEnded,
  listParts,
  markWrong,
  type PartRow,
  rejectPart,
} from "./round.store.ts";
import { commitmentsOf, type RoundDeps, type Use } from "./rounds.ts";

/** Milliseconds that an agent takes part in no signature after a wrong share. */
const EXCLUSION_MS = 600_000;

export type Shares = Partial<Record<Use, string>>;

export interface PartSubmission {
  readonly requestId: string;
  /** The round. */
  readonly leaseToken: string;
  readonly shares?: Shares;
  readonly rejection?: {
    readonly reason: (typeof rejectReasons)[number];
    readonly detail?: string;
  };
}

/** `accepted`: others are awaited. `invalid_share`: this agent's own. `lease_lost`: another agent's, or the round is over. */
export type PartOutcome =
  | { readonly status: "accepted" | "signed" | "rejected" }
  | { readonly error: "lease_lost" | "share_conflict" | "invalid_share" };

/** @returns in the same order */
export async function submitParts(
  deps: RoundDeps,
  agent: AgentCaller,
  submissions: readonly PartSubmission[],
): Promise<PartOutcome[]> {
  const outcomes = new Map<PartSubmission, PartOutcome>();
  // A round that is there twice has two answers, the second of which is judged by the first.
  for (let left = submissions; left.length > 0; ) {
    const rounds = new Set<string>();
    const [now, later]: [PartSubmission[], PartSubmission[]] = [[], []];
    for (const one of left) {
      (rounds.has(one.leaseToken) ? later : now).push(one);
      rounds.add(one.leaseToken);
    }
    await submitAll(deps, agent, now, outcomes);
    left = later;
  }
  return submissions.map((one) => outcomes.get(one) ?? { error: "lease_lost" });
}

/** Those of different rounds, with few statements for all of them. */
async function submitAll(
  deps: RoundDeps,
  agent: AgentCaller,
  submissions: readonly PartSubmission[],
  outcomes: Map<PartSubmission, PartOutcome>,
): Promise<void> {
  const { orgId, agentId } = agent;
  const { query } = deps.database;
  const given = submissions
    .filter(({ rejection }) => !rejection)
    .map((one) => ({ requestId: one.requestId, roundId: one.leaseToken, shares: givenIn(one) }));
  const answered = await answerParts(query, { orgId, agentId, now: deps.clock() }, given);
  const roundIds = submissions.map(({ leaseToken }) => leaseToken);
  const [parts, rows] = await Promise.all([
    listParts(query, orgId, roundIds),
    currentRows(deps, orgId, submissions),
  ]);
  const open = await openRounds(deps, agent, submissions, { parts, rows });
  const completed: Array<{ readonly submission: PartSubmission; readonly valid: ValidSubmission }> = [];
  for (const [submission, { row, active }] of open) {
    const { leaseToken, rejection } = submission;
    if (rejection) {
      outcomes.set(submission, await reject(deps, agent, active, { ...submission, ...rejection }));
      continue;
    }
    const round = { row, active, parts: parts.get(leaseToken) ?? [], submission };
    const early = answered.has(leaseToken) ? undefined : answeredBefore(agent, round);
    const outcome = early ?? (await completeIfLast(deps, agent, round));
    if ("valid" in outcome) completed.push({ submission, valid: outcome.valid });
    outcomes.set(submission, "valid" in outcome ? { status: "signed" } : outcome);
  }
  if (completed.length === 0) return;
  const valid = completed.map((one) => one.valid);
  const saved = await saveSigned(deps, valid);
  // The last two shares may have come at once: then another call has stored the signature.
  for (const { submission, valid } of completed)
    if (!saved.has(valid) && !(await isSigned(deps, valid.lease)))
      outcomes.set(submission, { error: "lease_lost" });
}

const givenIn = ({ shares }: PartSubmission): string => JSON.stringify(shares ?? {});

async function isSigned(deps: RoundDeps, lease: Lease): Promise<boolean> {
  const row = await currentRow(deps, lease);
  return row?.signed_lease_hash === lease.hash;
}

interface OpenRound {
  readonly row: SigningRequestRow;
  /** With the members and the key that the round was begun with. */
  readonly active: GroupKey;
}

interface Found {
  /** By round. */
  readonly parts: ReadonlyMap<string, readonly PartRow[]>;
  /** By request. */
  readonly rows: ReadonlyMap<string, SigningRequestRow>;
}

/** Of those submissions that are for a round in which the agent has a part. */
async function openRounds(
  deps: RoundDeps,
  { orgId, poolId, agentId }: AgentCaller,
  submissions: readonly PartSubmission[],
  { parts, rows }: Found,
): Promise<ReadonlyMap<PartSubmission, OpenRound>> {
  const open = new Map<PartSubmission, OpenRound>();
  for (const submission of submissions) {
    const { requestId, leaseToken } = submission;
    const own = parts.get(leaseToken)?.find((one) => one.agent_id === agentId);
    const row = rows.get(requestId);
    if (own?.request_id !== requestId || !row || row.kid === null) continue;
    const { ceremony_id: ceremonyId } = own;
    const active = await deps.groups.of(orgId, { poolId, kid: row.kid, ceremonyId });
    if (active) open.set(submission, { row, active });
  }
  return open;
}

interface Round extends OpenRound {
  readonly parts: readonly PartRow[];
  readonly submission: PartSubmission;
}

/** @returns undefined when the agent sends again what it sent before */
function answeredBefore({ agentId }: AgentCaller, { parts, submission }: Round): PartOutcome | undefined {
  const own = parts.find((one) => one.agent_id === agentId);
  if (own?.state !== "signed") return { error: "lease_lost" };
  return own.shares === givenIn(submission) ? undefined : { error: "share_conflict" };
}

type Submitted = Pick<PartSubmission, "requestId" | "leaseToken">;

/** A round's request is claimed by the round. */
const leaseOf = (agent: AgentCaller, { requestId, leaseToken }: Submitted, now: number) =>
  presentedLease({ ...agent, agentId: leaseToken }, { requestId, leaseToken }, now);

async function completeIfLast(
  deps: RoundDeps,
  agent: AgentCaller,
  round: Round,
): Promise<PartOutcome | { readonly valid: ValidSubmission }> {
  const { row, active, parts, submission } = round;
  if (!parts.every(({ state }) => state === "signed")) return { status: "accepted" };
  const lease = leaseOf(agent, submission, deps.clock());
  if (row.signed_lease_hash === lease.hash) return { status: "signed" };
  if (row.claimed_by !== submission.leaseToken || row.kid !== active.key.kid) return { error: "lease_lost" };
  const claimed = await claimedTokens(deps, row, async () => active);
  if (!claimed) return { error: "lease_lost" };
  const made = combine(claimed, active, parts);
  if ("wrong" in made) return refuseShares(deps, agent, round, made.wrong);
  const signers = parts.map(({ agent_id }) => agent_id);
  return { valid: { lease, claimed, checked: made.jwts, signers } };
}

/** @returns the kids whose shares are wrong, or the rendered bytes with signatures of them, which are verified */
function combine(
  { rendered }: ClaimedTokens,
  { group, agents, publicKey }: GroupKey,
  parts: readonly PartRow[],
): { readonly jwts: CheckedJwts } | { readonly wrong: readonly string[] } {
  const commitments = commitmentsOf({ agents }, parts);
  const given = parts.map((part) => ({
    kid: agents.get(part.agent_id) ?? "",
    shares: JSON.parse(part.shares ?? "{}") as Shares,
  }));
  const jwts: Record<string, string> = {};
  for (const token of rendered.tokens) {
    const input = `${token.protected}.${token.payload}`;
    const shares = given.map(({ kid, shares: of }): SignatureShare => ({ kid, share: of[token.use] ?? "" }));
    const message = Buffer.from(input);
    const signed = { group, publicKey, message, shares, commitments: commitments[token.use] ?? [] };
    const made = aggregateShares(signed);
    if ("wrong" in made) return made;
    jwts[token.use] = `${input}.${made.signature}`;
  }
  return { jwts };
}

/** Names and excludes the agents with wrong shares; the request gets another round with others, if there are enough. */
async function refuseShares(
  deps: RoundDeps,
  agent: AgentCaller,
  round: Round,
  wrong: readonly string[],
): Promise<PartOutcome> {
  const { orgId, address } = agent;
  const { active, submission } = round;
  const { leaseToken: roundId } = submission;
  const lease = leaseOf(agent, submission, deps.clock());
  const cheats = round.parts
    .map((one) => one.agent_id)
    .filter((id) => wrong.includes(active.agents.get(id) ?? ""));
  await deps.database.transaction(async (tx) => {
    for (const agentId of cheats) {
      if (!(await markWrong(tx, { orgId, roundId, agentId }))) continue;
      await excludeMember(tx, { orgId, agentId }, lease.now + EXCLUSION_MS);
      const details = { pool: agent.poolId, request: lease.requestId };
      // Found out with the last share of the round, whosever it was.
      const event = { orgId, at: lease.now, actor: `agent:${agentId}`, target: agentId, address, details };
      await recordAuditEvent(tx, { ...event, action: "signing-agent.share-refused" });
    }
  });
  await continueWithOthers(deps, active, { lease, roundId, reason: "bad_signatures" });
  return cheats.includes(agent.agentId) ? { error: "invalid_share" } : { error: "lease_lost" };
}

const MAX_DETAIL_LENGTH = 200;

type Rejection = Submitted & NonNullable<PartSubmission["rejection"]>;

/** This agent does not sign it. Others may, while there are enough. */
async function reject(
  deps: RoundDeps,
  agent: AgentCaller,
  active: GroupKey,
  { reason, detail, ...submitted }: Rejection,
): Promise<PartOutcome> {
  const { leaseToken: roundId } = submitted;
  const lease = leaseOf(agent, submitted, deps.clock());
  const isRejected = await deps.database.transaction(async (tx) => {
    const key = { orgId: agent.orgId, roundId, agentId: agent.agentId };
    // An agent that cannot sign now may be able to in a moment.
    const state = reason === "key_unavailable" ? "absent" : "rejected";
    if (!(await rejectPart(tx, key, { state, reason, now: lease.now }))) return false;
    const short = detail === undefined ? {} : { detail: [...detail].slice(0, MAX_DETAIL_LENGTH).join("") };
    const details = { reason, retryable: true, ...short };
    const event = leaseAuditEvent(lease, "signing-request.rejected", details);
    await recordAuditEvent(tx, { ...event, actor: `agent:${agent.agentId}` });
    return true;
  });
  if (!isRejected) return { error: "lease_lost" };
  await continueWithOthers(deps, active, { lease, roundId, reason });
  return { status: "rejected" };
}

interface Ending {
  readonly lease: Lease;
  readonly roundId: string;
  /** What the request fails with when too few agents are left. */
  readonly reason: FailReason;
}

async function continueWithOthers(
  deps: RoundDeps,
  { group, agents }: GroupKey,
  { lease, roundId, reason }: Ending,
): Promise<void> {
  const { orgId, poolId, requestId } = lease;
  const ended = (await listEnded(deps.database.query, orgId, [requestId])).get(requestId);
  const left = [...agents.keys()].filter((id) => !ended?.out.has(id)).length;
  if (left >= group.threshold.min) {
    await endRound(deps.database.query, { orgId, requestId, roundId });
    deps.wakeUp.notify(requestTopic(orgId, requestId), poolTopic(orgId, poolId));
    return;
  }
  const hasFailed = await deps.database.transaction(async (tx) => {
    if (!(await failForGood(tx, { orgId, requestId }, { reason, now: lease.now }))) return false;
    const event = leaseAuditEvent(lease, "signing-request.failed", { reason });
    await recordAuditEvent(tx, { ...event, actor: "service" });
    return true;
  });
  if (!hasFailed) return;
  countSignature(deps.count, lease, "failed");
  deps.wakeUp.notify(requestTopic(orgId, requestId));
}
