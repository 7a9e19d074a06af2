/**
 * A key ceremony: the agents of a pool make a key that exists nowhere (threshold-and-ledger.md §1). The service relays what they say and
 * keeps the order of the rounds. It verifies everything, but the agents do not rely on that.
 */
import { decodeJwsUnverified } from "@signet/protocol/jose/jws";
import {
  ABORT_TYPE,
  CONFIRMATION_TYPE,
  type IdentityJwk,
  JOIN_TYPE,
  joinsHash,
  readAbort,
  readConfirmation,
  readJoin,
  readShares,
  SHARES_TYPE,
} from "@signet/protocol/threshold/messages";
import { DEAL_TYPE, RESHARE_JOIN_TYPE } from "@signet/protocol/threshold/reshare";
import { CLOCK_SKEW_MS } from "../../../core/signing-keys/signing-key.ts";
import {
  insertAgentKey,
  listPoolKeys,
  retireGroupKeys,
} from "../../../core/signing-pools/agent-key.store.ts";
import { agentKeyState } from "../../../core/signing-pools/agent-key.ts";
import { signingPoolUrl } from "../../../core/signing-pools/signing-pool.ts";
import { CodedError, codedNotFound } from "../../../http/coded-error.ts";
import type { SovereignAdminDeps } from "../admin-api/pools.ts";
import type { AgentCaller } from "../requests/signing-request.ts";
import {
  advanceCeremony,
  type CeremonyRow,
  findCeremony,
  insertMessage,
  listMessages,
} from "./ceremony.store.ts";
import {
  type AnswerRound,
  invalidMessage,
  keyOf,
  lockThresholdPool,
  mismatch,
  nextState,
  openCeremony,
  type Posted,
  type Round,
  recordCeremony,
  stateOf,
} from "./ceremony-rules.ts";
import { listMembers } from "./member.store.ts";
import { type JoinOfAgent, outcomeOf, readJoins } from "./outcome.ts";
import { completeReshare, requireReshareAnswer } from "./reshare.ts";

const createRounds: ReadonlyMap<unknown, Round> = new Map([
  [JOIN_TYPE, "join"],
  [SHARES_TYPE, "shares"],
  [CONFIRMATION_TYPE, "confirmation"],
  [ABORT_TYPE, "abort"],
]);
const reshareRounds: ReadonlyMap<unknown, Round> = new Map([
  [RESHARE_JOIN_TYPE, "join"],
  [DEAL_TYPE, "deal"],
  [CONFIRMATION_TYPE, "confirmation"],
  [ABORT_TYPE, "abort"],
]);

export async function beginCeremony(deps: SovereignAdminDeps, agent: AgentCaller): Promise<CeremonyRow> {
  const { orgId, poolId } = agent;
  return deps.database.transaction(async (tx) => {
    const { threshold } = await lockThresholdPool(tx, agent);
    const members = await listMembers(tx, orgId, poolId);
    if (members.length < threshold.max)
      throw new CodedError(409, "too_few_agents", `${threshold.max} agents must be registered first`);
    const begun = { kind: "create", kid: null, from_ceremony: null, members: null };
    return openCeremony(tx, deps, { agent, threshold, begun });
  });
}

/** A message that is repeated changes nothing. @throws CodedError */
export async function postMessage(
  deps: SovereignAdminDeps,
  agent: AgentCaller,
  { ceremonyId, message }: { readonly ceremonyId: string; readonly message: string },
): Promise<{ readonly state: string }> {
  const { orgId, poolId, agentId } = agent;
  const typ = decodeJwsUnverified(message)?.header["typ"];
  if (!createRounds.has(typ) && !reshareRounds.has(typ)) throw invalidMessage("typ is none of a ceremony's");
  return deps.database.transaction(async (tx) => {
    const pool = await lockThresholdPool(tx, agent);
    const ceremony = await findCeremony(tx, { orgId, poolId, id: ceremonyId });
    if (!ceremony) throw codedNotFound();
    const round = (ceremony.kind === "reshare" ? reshareRounds : createRounds).get(typ);
    if (!round) throw invalidMessage(`typ is none of this ceremony, which is a ${ceremony.kind}`);
    const messages = await listMessages(tx, orgId, ceremonyId);
    const earlier = messages.find((one) => one.agent_id === agentId && one.round === round);
    if (earlier?.message === message) return { state: ceremony.state };
    if (ceremony.ended_at !== null) throw new CodedError(409, "ceremony_over", `it is ${ceremony.state}`);
    if (earlier) throw new CodedError(409, "message_conflict", "another message of this round is there");
    const members = await listMembers(tx, orgId, poolId);
    const member = members.find((one) => one.agent_id === agentId);
    if (!member) throw codedNotFound();
    const jwk = JSON.parse(member.public_jwk) as IdentityJwk;
    const posted = { tx, deps, agent, pool, ceremony, messages, members, jwk, round, message };
    return round === "abort" ? abort(posted) : answer(posted, round);
  });
}

async function abort(posted: Posted): Promise<{ readonly state: string }> {
  const { tx, deps, agent, ceremony, jwk, message } = posted;
  const read = readAbort(message, jwk, refOf(posted));
  if (!read) throw invalidMessage("the message is not well-formed, or not signed by this agent");
  await keep(posted);
  const state = "aborted";
  const reason = read.about === undefined ? read.reason : `${read.reason} (${read.about})`;
  const ending = { state, end_reason: reason, ended_at: deps.clock() };
  await advanceCeremony(tx, keyOf(ceremony), { from: ceremony.state, ...ending });
  const details = { reason };
  await recordCeremony(tx, deps, agent, ceremony, { action: "threshold-ceremony.aborted", details });
  return { state };
}

async function answer(posted: Posted, round: AnswerRound): Promise<{ readonly state: string }> {
  const { tx, deps, agent, ceremony, messages } = posted;
  const from = stateOf[round];
  if (ceremony.state !== from)
    throw new CodedError(409, "wrong_round", `the ceremony is ${ceremony.state}, not ${from}`);
  const isReshare = ceremony.kind === "reshare";
  if (isReshare) await requireReshareAnswer(posted, round);
  else requireAnswer(posted, round);
  await keep(posted);
  const details = { round };
  await recordCeremony(tx, deps, agent, ceremony, { action: "threshold-ceremony.answered", details });
  const said = messages.filter((one) => one.round === round).length + 1;
  if (said < (round === "deal" ? ceremony.min_signers : ceremony.max_signers)) return { state: from };
  const state = nextState[from];
  if (state === "complete") await (isReshare ? completeReshare(posted) : publishKey(posted));
  else await advanceCeremony(tx, keyOf(ceremony), { from, state });
  return { state };
}

/** @throws CodedError 409 or 422 */
function requireAnswer(posted: Posted, round: AnswerRound): void {
  const { ceremony, messages, members, jwk, message, agent } = posted;
  const malformed = invalidMessage("the message is not well-formed, or not signed by this agent");
  if (round === "join") {
    const join = readJoin(message, refOf(posted));
    const member = members.find((one) => one.agent_id === agent.agentId);
    if (!join || join.kid !== member?.kid) throw malformed;
    if (join.min !== ceremony.min_signers || join.max !== ceremony.max_signers)
      throw invalidMessage("it is for another threshold");
    return;
  }
  const joins = joinsOf(posted);
  const own = joins.find((one) => one.agentId === agent.agentId);
  if (!own) throw new CodedError(409, "not_a_member", "this agent did not join the ceremony");
  if (round === "shares") {
    const shares = readShares(message, jwk, refOf(posted));
    if (!shares) throw malformed;
    const others = joins.filter((one) => one !== own).map(({ kid }) => kid);
    const isForAll =
      Object.keys(shares.shares).length === others.length && others.every((kid) => shares.shares[kid]);
    if (!isForAll) throw invalidMessage("there must be a share for each other member");
    if (shares.joins !== joinsHash(joins)) throw mismatch("it answers other messages of the first round");
    return;
  }
  const confirmation = readConfirmation(message, jwk, refOf(posted));
  if (!confirmation) throw malformed;
  const { transcript, group } = outcomeOf(
    posted.ceremony,
    messages,
    signingPoolUrl(posted.deps.baseUrl, posted.pool),
  );
  if (confirmation.transcript !== transcript || confirmation.publicKey !== group.publicJwk.x)
    throw mismatch("the agent has another transcript or another key");
}

const refOf = ({ deps, pool, ceremony }: Posted) => ({
  pool: signingPoolUrl(deps.baseUrl, pool),
  ceremony: ceremony.id,
});

const keep = ({ tx, deps, agent, ceremony, round, message }: Posted): Promise<void> =>
  insertMessage(tx, {
    org_id: ceremony.org_id,
    ceremony_id: ceremony.id,
    agent_id: agent.agentId,
    round,
    message,
    created_at: deps.clock(),
  });

const joinsOf = ({ deps, pool, ceremony, messages }: Posted): JoinOfAgent[] =>
  readJoins(ceremony, messages, signingPoolUrl(deps.baseUrl, pool));

/** All members have confirmed the same: the key is the pool's. Without an active one it signs immediately. */
async function publishKey(posted: Posted): Promise<void> {
  const { tx, deps, agent, pool, ceremony, messages } = posted;
  const { orgId, id: poolId } = pool;
  const now = deps.clock();
  const { group } = outcomeOf(ceremony, messages, signingPoolUrl(deps.baseUrl, pool));
  const hasActive = (await listPoolKeys(tx, orgId, poolId)).some(
    (key) => agentKeyState(key, now) === "active",
  );
  const isImmediate = !hasActive || pool.keyPublishDelaySeconds === 0;
  // Also on nodes whose clock is behind.
  const activeFrom = isImmediate ? now - CLOCK_SKEW_MS : now + pool.keyPublishDelaySeconds * 1000;
  await retireGroupKeys(tx, { orgId, poolId, at: Math.max(activeFrom, now) });
  const key = { kid: group.kid, publicJwk: group.publicJwk, alg: "EdDSA", x5c: [] } as const;
  const times = { createdAt: now, activeFrom, retiringAt: null, lastTokenExp: null, compromisedAt: null };
  const owner = { orgId, poolId, agentId: ceremony.begun_by, ceremonyId: ceremony.id };
  if (!(await insertAgentKey(tx, { ...key, ...times, ...owner })))
    throw new CodedError(409, "duplicate_key", "the key is already registered");
  const to = { state: "complete", kid: group.kid, ended_at: now };
  await advanceCeremony(tx, keyOf(ceremony), { from: "confirming", ...to });
  const details = { kids: [group.kid] };
  await recordCeremony(tx, deps, agent, ceremony, { action: "threshold-ceremony.completed", details });
}
