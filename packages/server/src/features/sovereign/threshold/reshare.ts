/**
 * Resharing: `min` members deal the pool's key to others, and it stays the same key (threshold-and-ledger.md §1). The new members' shares
 * take effect in one transaction, once all of them have confirmed.
 */
import { readConfirmation } from "@signet/protocol/threshold/messages";
import {
  checkDeal,
  type PublicGroup,
  publicGroup,
  type Reshare,
  readReshareJoin,
  readRoster,
} from "@signet/protocol/threshold/reshare";
import { listPoolKeys, moveGroupKey } from "../../../core/signing-pools/agent-key.store.ts";
import { type AgentKey, agentKeyState } from "../../../core/signing-pools/agent-key.ts";
import { signingPoolUrl } from "../../../core/signing-pools/signing-pool.ts";
import type { Db } from "../../../db/open.ts";
import { CodedError } from "../../../http/coded-error.ts";
import type { SovereignAdminDeps } from "../admin-api/pools.ts";
import type { AgentCaller } from "../requests/signing-request.ts";
import { advanceCeremony, type CeremonyRow, findCeremony, listMessages } from "./ceremony.store.ts";
import {
  type AnswerRound,
  invalidMessage,
  keyOf,
  lockThresholdPool,
  mismatch,
  openCeremony,
  type Posted,
  recordCeremony,
} from "./ceremony-rules.ts";
import { listMembers } from "./member.store.ts";
import {
  type CeremonyOutcome,
  outcomeOf,
  reshareOf,
  reshareOutcomeOf,
  saidIn,
  withCodes,
} from "./outcome.ts";
import { endRoundsOfKey } from "./round.store.ts";

/** @param members the agents that are to have shares of the newest key. @throws CodedError */
export async function beginReshare(
  deps: SovereignAdminDeps,
  agent: AgentCaller,
  members: readonly string[],
): Promise<CeremonyRow> {
  const { orgId, poolId } = agent;
  return deps.database.transaction(async (tx) => {
    const pool = await lockThresholdPool(tx, agent);
    const { threshold } = pool;
    const active = await listMembers(tx, orgId, poolId);
    const wanted = new Set(members.map((id) => id.toLowerCase()));
    const areActive = [...wanted].every((id) => active.some((one) => one.agent_id === id));
    if (wanted.size !== members.length || wanted.size !== threshold.max || !areActive)
      throw new CodedError(
        422,
        "invalid_members",
        `${threshold.max} active agents of the pool must be named`,
      );
    const key = await findNewestGroupKey(tx, { orgId, poolId, now: deps.clock() });
    const known = key && (await findOutcome(tx, { orgId, poolId, id: key.ceremonyId ?? "" }, deps));
    if (!key || !known)
      throw new CodedError(409, "no_group_key", "the pool has no key that could be reshared");
    const left = active.filter((one) => known.agents.get(one.agent_id) === one.kid);
    if (left.length < threshold.min)
      throw new CodedError(
        409,
        "too_few_agents",
        `${threshold.min} members of the key must be there to deal`,
      );
    const named = JSON.stringify([...wanted]);
    const begun = { kind: "reshare", kid: key.kid, from_ceremony: key.ceremonyId, members: named };
    return openCeremony(tx, deps, { agent, threshold, begun });
  });
}

async function findNewestGroupKey(
  tx: Db,
  { orgId, poolId, now }: { orgId: string; poolId: string; now: number },
): Promise<AgentKey | undefined> {
  const keys = await listPoolKeys(tx, orgId, poolId);
  return keys.findLast(
    (key) => key.ceremonyId !== null && ["published", "active"].includes(agentKeyState(key, now)),
  );
}

/** Undefined unless it is complete. */
async function findOutcome(
  tx: Db,
  key: { readonly orgId: string; readonly poolId: string; readonly id: string },
  { baseUrl }: Pick<SovereignAdminDeps, "baseUrl">,
): Promise<CeremonyOutcome | undefined> {
  const ceremony = await findCeremony(tx, key);
  if (ceremony?.state !== "complete") return undefined;
  const messages = await listMessages(tx, key.orgId, key.id);
  return outcomeOf(ceremony, messages, signingPoolUrl(baseUrl, { orgId: key.orgId, id: key.poolId }));
}

export const membersOf = ({ members }: Pick<CeremonyRow, "members">): string[] =>
  members === null ? [] : (JSON.parse(members) as string[]);

/** @throws CodedError 409 or 422 */
export async function requireReshareAnswer(posted: Posted, round: AnswerRound): Promise<void> {
  const { ceremony, messages, members, message, agent, jwk } = posted;
  const reshare = reshareOf(ceremony, poolOf(posted));
  const kid = members.find((one) => one.agent_id === agent.agentId)?.kid;
  const malformed = invalidMessage("the message is not well-formed, or not signed by this agent");
  if (round === "deal") return requireDeal(posted, { reshare, kid });
  if (!membersOf(ceremony).includes(agent.agentId))
    throw new CodedError(409, "not_a_member", "this agent is not to have a share");
  if (round === "join") {
    if (readReshareJoin(message, reshare)?.kid !== kid) throw malformed;
    return;
  }
  const confirmation = readConfirmation(message, jwk, reshare);
  if (!confirmation) throw malformed;
  const { transcript, group } = reshareOutcomeOf(ceremony, messages, reshare.pool);
  if (confirmation.transcript !== transcript || confirmation.publicKey !== group.publicJwk.x)
    throw mismatch("the agent has another transcript or another key");
}

const poolOf = ({ deps, pool }: Posted): string => signingPoolUrl(deps.baseUrl, pool);

async function requireDeal(
  { tx, deps, agent, ceremony, messages, message }: Posted,
  { reshare, kid }: { readonly reshare: Reshare; readonly kid: string | undefined },
): Promise<void> {
  const { orgId, poolId, agentId } = agent;
  const from = ceremony.from_ceremony ?? "";
  const known = await findOutcome(tx, { orgId, poolId, id: from }, deps);
  if (!known || known.agents.get(agentId) !== kid)
    throw new CodedError(409, "not_a_member", "this agent has no share of the key");
  const before: PublicGroup = publicGroup(known.group, from);
  const { deal } = withCodes(() =>
    checkDeal(reshare, readRoster(reshare, saidIn(messages, "join")), { message, before }),
  );
  if (deal.kid !== kid) throw invalidMessage("the deal is signed by another agent");
}

/** From now on the new members sign. What the old ones were asked for is asked of the new ones. */
export async function completeReshare(posted: Posted): Promise<void> {
  const { tx, deps, agent, pool, ceremony } = posted;
  const { orgId, id: poolId } = pool;
  const { kid, from_ceremony: from } = ceremony;
  const now = deps.clock();
  if (kid === null || from === null) throw new Error("a resharing has a key");
  if (!(await moveGroupKey(tx, { orgId, kid, from, to: ceremony.id, now })))
    throw new CodedError(409, "no_group_key", "the key is retired or was compromised");
  await endRoundsOfKey(tx, { orgId, poolId, kid });
  await advanceCeremony(tx, keyOf(ceremony), { from: "confirming", state: "complete", ended_at: now });
  const details = { kind: "reshare", kids: [kid] };
  await recordCeremony(tx, deps, agent, ceremony, { action: "threshold-ceremony.completed", details });
}
