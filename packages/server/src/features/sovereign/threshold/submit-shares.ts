/**
 * Agents hand in their shares. The last one of a round completes the signature, which is verified like any other before it is stored; of a
 * signature that is none, the agent with the wrong share is named and excluded, and the request gets another round.
 */
import { aggregateShares, type SignatureShare } from "@signet/protocol/threshold/shares";
import { recordAuditEvent } from "../../../core/audit/audit.store.ts";
import { poolTopic, requestTopic } from "../notify/wake-up.ts";
import { type ClaimedTokens, claimedTokens } from "../requests/claimed-tokens.ts";
import { currentRow } from "../requests/expire-requests.ts";
import { type Lease, leaseAuditEvent, presentedLease } from "../requests/lease.ts";
import type { rejectReasons } from "../requests/reject-request.ts";
import { saveSigned, type ValidSubmission } from "../requests/save-signed.ts";
import { checkJwts, type SubmittedJwts } from "../requests/signing-input.ts";
import { findRequests } from "../requests/signing-request.store.ts";
import { type AgentCaller, countSignature, type FailReason } from "../requests/signing-request.ts";
import type { GroupKey } from "./group-keys.ts";
import { excludeMember } from "./member.store.ts";
import {
  answerPart,
  endRound,
  failForGood,
  listOut,
  listParts,
  markWrong,
  type PartRow,
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
  const outcomes: PartOutcome[] = [];
  const completed: Array<{ readonly at: number; readonly valid: ValidSubmission }> = [];
  for (const [at, submission] of submissions.entries()) {
    const outcome = await submitPart(deps, agent, submission);
    if ("valid" in outcome) completed.push({ at, valid: outcome.valid });
    outcomes.push("valid" in outcome ? { status: "signed" } : outcome);
  }
  if (completed.length === 0) return outcomes;
  const saved = await saveSigned(
    deps,
    completed.map(({ valid }) => valid),
  );
  // The last two shares may have come at once: then another call has stored the signature.
  for (const { at, valid } of completed)
    if (!saved.has(valid) && !(await isSigned(deps, valid.lease))) outcomes[at] = { error: "lease_lost" };
  return outcomes;
}

async function isSigned(deps: RoundDeps, lease: Lease): Promise<boolean> {
  const row = await currentRow(deps, lease);
  return row?.signed_lease_hash === lease.hash;
}

async function submitPart(
  deps: RoundDeps,
  agent: AgentCaller,
  submission: PartSubmission,
): Promise<PartOutcome | { readonly valid: ValidSubmission }> {
  const { orgId, agentId } = agent;
  const { requestId, leaseToken: roundId, shares, rejection } = submission;
  const now = deps.clock();
  const key = { orgId, roundId, agentId };
  const own = (await listParts(deps.database.query, orgId, roundId)).find((one) => one.agent_id === agentId);
  if (own?.request_id !== requestId) return { error: "lease_lost" };
  const active = await groupOfRound(deps, agent, own);
  if (!active) return { error: "lease_lost" };
  if (rejection) return rejectPart(deps, agent, active, { ...submission, rejection });
  const given = JSON.stringify(shares ?? {});
  if (!(await answerPart(deps.database.query, key, { state: "signed", shares: given, now }))) {
    if (own.state === "signed" && own.shares !== given) return { error: "share_conflict" };
    if (own.state !== "signed") return { error: "lease_lost" };
  }
  const parts = await listParts(deps.database.query, orgId, roundId);
  if (!parts.every(({ state }) => state === "signed")) return { status: "accepted" };
  return complete(deps, agent, { active, parts, requestId, roundId });
}

/** The members and the key that the round was begun with. */
async function groupOfRound(
  deps: RoundDeps,
  { orgId, poolId }: AgentCaller,
  { request_id, ceremony_id: ceremonyId }: PartRow,
): Promise<GroupKey | undefined> {
  const [row] = await findRequests(deps.database.query, orgId, [request_id]);
  return row && row.kid !== null ? deps.groups.of(orgId, { poolId, kid: row.kid, ceremonyId }) : undefined;
}

interface Round {
  /** With the members that the round was begun with. */
  readonly active: GroupKey;
  readonly parts: readonly PartRow[];
  readonly requestId: string;
  readonly roundId: string;
}

/** A round's request is claimed by the round. */
const leaseOf = (
  agent: AgentCaller,
  { requestId, roundId }: Pick<Round, "requestId" | "roundId">,
  now: number,
) => presentedLease({ ...agent, agentId: roundId }, { requestId, leaseToken: roundId }, now);

async function complete(
  deps: RoundDeps,
  agent: AgentCaller,
  round: Round,
): Promise<PartOutcome | { readonly valid: ValidSubmission }> {
  const { active, parts } = round;
  const lease = leaseOf(agent, round, deps.clock());
  const row = await currentRow(deps, lease);
  if (row?.signed_lease_hash === lease.hash) return { status: "signed" };
  if (row?.claimed_by !== round.roundId || row.kid !== active.key.kid) return { error: "lease_lost" };
  const claimed = await claimedTokens(deps, row, async () => active);
  if (!claimed) return { error: "lease_lost" };
  const made = combine(claimed, active, parts);
  if ("wrong" in made) return refuseShares(deps, agent, round, made.wrong);
  const { publicKey, key } = active;
  const checked = await checkJwts(claimed.rendered.tokens, made.jwts, { publicKey, alg: key.alg });
  // Shares that verify make a signature that verifies; nothing is given out if they do not.
  if ("reason" in checked) return refuseShares(deps, agent, round, []);
  const signers = parts.map(({ agent_id }) => agent_id);
  return { valid: { lease, claimed, checked: checked.jwts, signers } };
}

/** @returns the kids whose shares are wrong, or the signed tokens */
function combine(
  { rendered }: ClaimedTokens,
  { group, agents }: GroupKey,
  parts: readonly PartRow[],
): { readonly jwts: SubmittedJwts } | { readonly wrong: readonly string[] } {
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
    const made = aggregateShares({ group, message, shares, commitments: commitments[token.use] ?? [] });
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
  const { active, roundId } = round;
  const lease = leaseOf(agent, round, deps.clock());
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

/** This agent does not sign it. Others may, while there are enough. */
async function rejectPart(
  deps: RoundDeps,
  agent: AgentCaller,
  active: GroupKey,
  { requestId, leaseToken: roundId, rejection }: PartSubmission & Required<Pick<PartSubmission, "rejection">>,
): Promise<PartOutcome> {
  const { reason, detail } = rejection;
  const lease = leaseOf(agent, { requestId, roundId }, deps.clock());
  const isRejected = await deps.database.transaction(async (tx) => {
    const key = { orgId: agent.orgId, roundId, agentId: agent.agentId };
    // An agent that cannot sign now may be able to in a moment.
    const state = reason === "key_unavailable" ? "absent" : "rejected";
    if (!(await answerPart(tx, key, { state, reason, now: lease.now }))) return false;
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
  const out = (await listOut(deps.database.query, orgId, [requestId])).get(requestId) ?? new Set();
  const left = [...agents.keys()].filter((id) => !out.has(id)).length;
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
