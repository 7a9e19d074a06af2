/** An agent's poll: what is pending in its pool, the answers to its challenges, and the leases it renews. */
import { openedChallenge } from "../requests/challenge/challenge-user.ts";
import { sweepPool } from "../requests/expire-requests.ts";
import { openColumn, type SigningRequestRow } from "../requests/signing-request.store.ts";
import {
  type AgentCaller,
  CHALLENGE_LEASE_MS,
  LEASE_MS,
  type SigningDeps,
} from "../requests/signing-request.ts";
import { extendLeases, listAnswered, listPending } from "./agent-queue.store.ts";

/** @param known challenges whose answers the agent has: repeated, they would end every wait immediately */
export async function readQueue(
  deps: SigningDeps,
  agent: AgentCaller,
  max: number,
  known: readonly string[] = [],
) {
  await sweepPool(deps, agent.orgId, agent.poolId);
  const { query } = deps.database;
  const now = deps.clock();
  const pending = max > 0 ? await listPending(query, { ...agent, now, max }) : [];
  const answered = await listAnswered(query, { ...agent, now });
  return {
    /** Milliseconds. */
    serverTime: now,
    /** Oldest first. */
    pending: pending.map((row) => ({
      requestId: row.id,
      grantType: row.grant_type,
      clientId: row.application_id,
      interactive: row.interactive === 1,
      attempts: row.attempts,
      expiresIn: Math.ceil((row.expires_at - now) / 1000),
    })),
    /** In every poll until the agent acts on them. */
    responses: answered
      .flatMap((row) => challengeResponse(deps, row))
      .filter(({ challengeId }) => !known.includes(challengeId)),
  };
}

function challengeResponse(deps: SigningDeps, row: SigningRequestRow) {
  const challenge = openedChallenge(deps, row);
  if (!challenge || row.answer === null) return [];
  const { answer } = openColumn<{ answer: unknown }>(deps, row, "answer");
  return [{ requestId: row.id, challengeId: challenge.challengeId, outcome: "answered" as const, answer }];
}

export async function renewLeases(
  { database, clock }: SigningDeps,
  { orgId, agentId }: AgentCaller,
  requestIds: readonly string[],
) {
  if (requestIds.length === 0) return { renewed: [], lost: [] };
  const rows = await extendLeases(database.query, { orgId, agentId, requestIds, now: clock() });
  const renewed = rows.map(({ id, state }) => ({
    requestId: id,
    leaseSeconds: (state === "challenge" ? CHALLENGE_LEASE_MS : LEASE_MS) / 1000,
  }));
  const leased = new Set(rows.map(({ id }) => id));
  return { renewed, lost: [...new Set(requestIds)].filter((id) => !leased.has(id)) };
}
