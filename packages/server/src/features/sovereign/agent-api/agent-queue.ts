/** What an agent's queue poll tells it, and the leases that the poll keeps. */
import { challengeOf } from "../requests/challenge/ask-user.ts";
import { listAnswered, listPending, renewLeases } from "../requests/lease.store.ts";
import type { RequestDeps } from "../requests/request-deps.ts";
import { openJson } from "../requests/sealed-json.ts";
import type { SigningRequestRow } from "../requests/signing-request.store.ts";
import { CHALLENGE_LEASE_MS, LEASE_MS } from "../requests/signing-request.ts";
import type { AgentCaller, AgentQueue, RenewedLeases } from "./request-messages.ts";

/** @param known challenges whose answers the agent has: told again, they would end every wait at once */
export async function agentQueue(
  deps: RequestDeps,
  agent: AgentCaller,
  max: number,
  known: readonly string[] = [],
): Promise<AgentQueue> {
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
      .flatMap((row) => responseOf(deps, row))
      .filter(({ challengeId }) => !known.includes(challengeId)),
  };
}

function responseOf(deps: RequestDeps, row: SigningRequestRow): AgentQueue["responses"][number][] {
  const asked = challengeOf(deps, row);
  if (!asked || row.answer === null) return [];
  const place = { orgId: row.org_id, requestId: row.id };
  const { answer } = openJson<{ answer: unknown }>(deps.encryption, place, "answer", row.answer);
  return [{ requestId: row.id, challengeId: asked.challengeId, outcome: "answered", answer }];
}

export async function renew(
  { database, clock }: RequestDeps,
  { orgId, agentId }: AgentCaller,
  requestIds: readonly string[],
): Promise<RenewedLeases> {
  if (requestIds.length === 0) return { renewed: [], lost: [] };
  const rows = await renewLeases(database.query, { orgId, agentId, requestIds, now: clock() });
  const renewed = rows.map(({ id, state }) => ({
    requestId: id,
    leaseSeconds: (state === "challenge" ? CHALLENGE_LEASE_MS : LEASE_MS) / 1000,
  }));
  const kept = new Set(rows.map(({ id }) => id));
  return { renewed, lost: [...new Set(requestIds)].filter((id) => !kept.has(id)) };
}
