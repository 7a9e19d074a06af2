/** An agent's poll: what is pending in its pool, the answers to its challenges, and the leases it renews. */
import { openedChallenge } from "../requests/challenge/challenge-user.ts";
import { sweepPool } from "../requests/expire-requests.ts";
import type { SigningRequestRow } from "../requests/signing-request.store.ts";
import {
  type AgentCaller,
  CHALLENGE_LEASE_MS,
  LEASE_MS,
  openJson,
  type SigningDeps,
} from "../requests/signing-request.ts";
import { extendLeases, listAnswered, listPending } from "./agent-queue.store.ts";

export interface AgentQueue {
  /** Milliseconds. */
  readonly serverTime: number;
  /** Oldest first. */
  readonly pending: ReadonlyArray<{
    readonly requestId: string;
    readonly grantType: string;
    readonly clientId: string;
    readonly interactive: boolean;
    readonly attempts: number;
    readonly expiresIn: number;
  }>;
  /** In every poll until the agent acts on them. */
  readonly responses: ReadonlyArray<{
    readonly requestId: string;
    readonly challengeId: string;
    readonly outcome: "answered";
    readonly answer: unknown;
  }>;
}

/** @param known challenges whose answers the agent has: repeated, they would end every wait immediately */
export async function readQueue(
  deps: SigningDeps,
  agent: AgentCaller,
  max: number,
  known: readonly string[] = [],
): Promise<AgentQueue> {
  await sweepPool(deps, agent.orgId, agent.poolId);
  const { query } = deps.database;
  const now = deps.clock();
  const pending = max > 0 ? await listPending(query, { ...agent, now, max }) : [];
  const answered = await listAnswered(query, { ...agent, now });
  return {
    serverTime: now,
    pending: pending.map((row) => ({
      requestId: row.id,
      grantType: row.grant_type,
      clientId: row.application_id,
      interactive: row.interactive === 1,
      attempts: row.attempts,
      expiresIn: Math.ceil((row.expires_at - now) / 1000),
    })),
    responses: answered
      .flatMap((row) => challengeResponse(deps, row))
      .filter(({ challengeId }) => !known.includes(challengeId)),
  };
}

function challengeResponse(deps: SigningDeps, row: SigningRequestRow): AgentQueue["responses"][number][] {
  const challenge = openedChallenge(deps, row);
  if (!challenge || row.answer === null) return [];
  const key = { orgId: row.org_id, requestId: row.id };
  const { answer } = openJson<{ answer: unknown }>(deps.encryption, key, "answer", row.answer);
  return [{ requestId: row.id, challengeId: challenge.challengeId, outcome: "answered", answer }];
}

export interface RenewedLeases {
  readonly renewed: ReadonlyArray<{ readonly requestId: string; readonly leaseSeconds: number }>;
  readonly lost: readonly string[];
}

export async function renewLeases(
  { database, clock }: SigningDeps,
  { orgId, agentId }: AgentCaller,
  requestIds: readonly string[],
): Promise<RenewedLeases> {
  if (requestIds.length === 0) return { renewed: [], lost: [] };
  const rows = await extendLeases(database.query, { orgId, agentId, requestIds, now: clock() });
  const renewed = rows.map(({ id, state }) => ({
    requestId: id,
    leaseSeconds: (state === "challenge" ? CHALLENGE_LEASE_MS : LEASE_MS) / 1000,
  }));
  const held = new Set(rows.map(({ id }) => id));
  return { renewed, lost: [...new Set(requestIds)].filter((id) => !held.has(id)) };
}
