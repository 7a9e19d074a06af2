/** An agent asks the user through the wait page, and the user answers, or says no (sovereign-signing.md §3 and §5). */

import { recordAuditEvent } from "../../../../core/audit/audit.store.ts";
import type {
  AgentCaller,
  ChallengeAnswer,
  ChallengeOutcome,
  RespondOutcome,
} from "../../agent-api/request-messages.ts";
import { agentTopic, requestTopic } from "../../notify/wake-up.ts";
import { denyRequest } from "../expire-requests.store.ts";
import { currentRow } from "../expire-requests.ts";
import { type Lease, openChallenge } from "../lease.store.ts";
import { leaseOf, leaseRefusal } from "../lease.ts";
import type { RequestDeps } from "../request-deps.ts";
import { openJson, sealJson } from "../sealed-json.ts";
import { answerChallenge, findRequest, type SigningRequestRow } from "../signing-request.store.ts";
import { CHALLENGE_LEASE_MS, CHALLENGE_TTL_MS, type Challenge, MOST_CHALLENGES } from "../signing-request.ts";
import { passkeyFault } from "./passkey-challenge.ts";

export async function challenge(
  deps: RequestDeps,
  agent: AgentCaller,
  held: { readonly requestId: string; readonly leaseToken: string },
  asked: Challenge,
): Promise<ChallengeOutcome> {
  const lease = leaseOf(agent, held, deps.clock());
  const row = await currentRow(deps, lease);
  const refusal = refusalOf(deps, row, lease, asked);
  if (refusal) return refusal;
  const fault = row && (await passkeyFault(deps, agent, row, asked));
  if (fault) return { outcome: fault };
  const { orgId, requestId, now } = lease;
  const opened = await openChallenge(deps.database.query, lease, {
    was: row?.challenge ?? null,
    sealed: sealJson(deps.encryption, lease, "challenge", asked),
    until: now + Math.min(asked.ttl * 1000, CHALLENGE_TTL_MS),
  });
  if (opened) {
    deps.wakeUp.wake(requestTopic(orgId, requestId));
    return { outcome: "challenge", leaseSeconds: CHALLENGE_LEASE_MS / 1000 };
  }
  const current = await currentRow(deps, lease);
  return refusalOf(deps, current, { ...lease, now: deps.clock() }, asked) ?? { outcome: "challenge_limit" };
}

/** @returns undefined when it may be asked, as far as the row says */
function refusalOf(
  deps: RequestDeps,
  row: SigningRequestRow | undefined,
  lease: Lease,
  { challengeId }: Challenge,
): ChallengeOutcome | undefined {
  const refusal = leaseRefusal(row, lease);
  if (refusal || !row) return { outcome: refusal ?? "not_found" };
  if (row.interactive === 0) return { outcome: "not_interactive" };
  // The same call once more: its answer was lost. Nothing changes, answered or not.
  if (challengeOf(deps, row)?.challengeId === challengeId) {
    const left = (row.lease_until ?? lease.now) - lease.now;
    return { outcome: "challenge", leaseSeconds: Math.ceil(left / 1000) };
  }
  const isFree = row.state !== "challenge" && row.challenge_count < MOST_CHALLENGES;
  return isFree ? undefined : { outcome: "challenge_limit" };
}

/** The challenge that is open, or was answered last. */
export function challengeOf({ encryption }: RequestDeps, row: SigningRequestRow): Challenge | undefined {
  if (row.challenge === null) return undefined;
  const place = { orgId: row.org_id, requestId: row.id };
  return openJson<Challenge>(encryption, place, "challenge", row.challenge);
}

export async function respond(
  deps: RequestDeps,
  { orgId, requestId }: { readonly orgId: string; readonly requestId: string },
  { challengeId, answer }: ChallengeAnswer,
): Promise<RespondOutcome> {
  const { query } = deps.database;
  const place = { orgId, requestId };
  // A question whose lease has lapsed is withdrawn, answered or not.
  const row = await currentRow(deps, place);
  if (!row?.challenge || challengeOf(deps, row)?.challengeId !== challengeId) return "stale_challenge";
  const agentId = await answerChallenge(query, {
    ...place,
    asked: row.challenge,
    sealed: sealJson(deps.encryption, place, "answer", { answer: answer ?? null }),
    now: deps.clock(),
  });
  if (agentId !== undefined) {
    deps.wakeUp.wake(requestTopic(orgId, requestId), agentTopic(orgId, agentId));
    return "accepted";
  }
  const current = await findRequest(query, place);
  return current?.state === "responded" && current.challenge === row.challenge
    ? "already_answered"
    : "stale_challenge";
}

export async function cancel(
  deps: RequestDeps,
  { orgId, requestId }: { readonly orgId: string; readonly requestId: string },
  challengeId?: string,
  address?: string,
): Promise<boolean> {
  await currentRow(deps, { orgId, requestId });
  const asked = challengeId === undefined ? undefined : await openAsked(deps, orgId, requestId, challengeId);
  if (asked === null) return false;
  const now = deps.clock();
  const denied = await deps.database.transaction(async (tx) => {
    const row = await denyRequest(tx, { orgId, requestId, now, ...(asked === undefined ? {} : { asked }) });
    if (row)
      await recordAuditEvent(tx, {
        orgId,
        at: now,
        actor: row.user_id === null ? "anonymous" : `user:${row.user_id}`,
        action: "signing-request.denied",
        target: requestId,
        address,
        details: { pool: row.pool_id },
      });
    return row;
  });
  if (!denied) return false;
  const agents = denied.claimed_by === null ? [] : [agentTopic(orgId, denied.claimed_by)];
  deps.wakeUp.wake(requestTopic(orgId, requestId), ...agents);
  return true;
}

/** Sealed, as it stands in the row. @returns null when the row asks something else */
async function openAsked(
  deps: RequestDeps,
  orgId: string,
  requestId: string,
  challengeId: string,
): Promise<string | null> {
  const row = await findRequest(deps.database.query, { orgId, requestId });
  return row && challengeOf(deps, row)?.challengeId === challengeId ? row.challenge : null;
}
