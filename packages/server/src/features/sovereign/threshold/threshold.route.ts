/**
 * The API of agents whose pool has a threshold (threshold-and-ledger.md §1): key ceremonies, commitments ahead, rounds and shares. Every
 * agent pulls, as agents with whole keys do.
 */
import type { FastifyInstance, FastifyReply, RouteHandlerMethod } from "fastify";
import type { Static } from "typebox";
import type { Organisation } from "../../../core/organisations/organisation.ts";
import type { OrganisationDirectory } from "../../../core/organisations/organisations.ts";
import { listPoolKeys } from "../../../core/signing-pools/agent-key.store.ts";
import { agentKeyState } from "../../../core/signing-pools/agent-key.ts";
import { findPool } from "../../../core/signing-pools/signing-pool.store.ts";
import { signingPoolUrl } from "../../../core/signing-pools/signing-pool.ts";
import { codedNotFound } from "../../../http/coded-error.ts";
import { parseQuery } from "../../../http/form-body.ts";
import { inOrganisation } from "../../../http/organisation-lookup.ts";
import { sendJson } from "../../../http/send-json.ts";
import type { SovereignAdminDeps } from "../admin-api/pools.ts";
import { type AgentAuthenticationDeps, authenticateAgent } from "../agent-api/agent-authentication.ts";
import { bodyReader } from "../agent-api/agent-body.ts";
import { type Call, type HeldCalls, heldCalls } from "../agent-api/held-calls.ts";
import { agentTopic, poolTopic } from "../notify/wake-up.ts";
import type { AgentCaller, SigningDeps } from "../requests/signing-request.ts";
import { type CeremonyRow, findCeremony, listCeremonies, listMessages } from "./ceremony.store.ts";
import { beginCeremony, postMessage } from "./ceremony.ts";
import { requireThresholdPool } from "./ceremony-rules.ts";
import { countStock } from "./commitment.store.ts";
import { groupKeys } from "./group-keys.ts";
import { type Boot, listMembers, recordMemberGone, recordMemberSeen } from "./member.store.ts";
import { beginReshare, membersOf } from "./reshare.ts";
import { takeBackParts } from "./round.store.ts";
import { type ClaimedRound, claimRounds, type RoundDeps } from "./rounds.ts";
import { publishCommitments, requireBoot } from "./stock.ts";
import { type PartSubmission, submitParts } from "./submit-shares.ts";
import { claimBody, commitmentsBody, messageBody, reshareBody, sharesBody } from "./threshold-body.ts";

interface ThresholdRouteDeps extends AgentAuthenticationDeps {
  readonly organisations: Pick<OrganisationDirectory, "find">;
  readonly signing: SigningDeps;
  readonly admin: SovereignAdminDeps;
}

type Answer = { readonly status: 200 | 201; readonly body: unknown };

export function thresholdRoutes(app: FastifyInstance, deps: ThresholdRouteDeps): void {
  const calls = heldCalls();
  app.addHook("preClose", async () => calls.endAll());
  const { signing, admin } = deps;
  const { baseUrl } = admin;
  const rounds: RoundDeps = { ...signing, groups: groupKeys({ ...signing, baseUrl }) };
  const agentCall: AgentRoute = (answer) =>
    inOrganisation<Organisation>(deps.organisations.find, async (call) => {
      const caller = await authenticateAgent(deps, call.organisation, call.request);
      return send(call.reply, await answer(call, caller));
    });

  app.get(
    "/oauth/:org/sovereign/agent/threshold",
    agentCall(async ({ request }, caller) => {
      const ceremony = parseQuery(request).values.get("ceremony");
      return { status: 200, body: await describePool(deps, caller, ceremony) };
    }),
  );
  ceremonyRoutes(app, admin, agentCall);
  const readCommitments = bodyReader(commitmentsBody);
  app.post(
    "/oauth/:org/sovereign/agent/threshold/commitments",
    agentCall(async ({ request }, caller) => {
      const published = readCommitments(request);
      await requireThresholdAgent(deps, caller);
      return { status: 200, body: await publishCommitments(signing, caller, published) };
    }),
  );
  const readClaim = bodyReader(claimBody);
  app.post(
    "/oauth/:org/sovereign/agent/threshold/claim",
    agentCall((call, caller) => claim(rounds, calls, { call, caller, wanted: readClaim(call.request) })),
  );
  const readShares = bodyReader(sharesBody);
  app.post(
    "/oauth/:org/sovereign/agent/threshold/shares",
    agentCall(async ({ request }, caller) => takeShares(rounds, caller, readShares(request))),
  );
}

type AgentRoute = (answer: (call: Call, caller: AgentCaller) => Promise<Answer>) => RouteHandlerMethod;

function ceremonyRoutes(app: FastifyInstance, admin: SovereignAdminDeps, agentCall: AgentRoute): void {
  app.post(
    "/oauth/:org/sovereign/agent/threshold/ceremonies",
    agentCall(async (_call, caller) => {
      const { id } = await beginCeremony(admin, caller);
      return { status: 201, body: { ceremonyId: id } };
    }),
  );
  const readReshare = bodyReader(reshareBody);
  app.post(
    "/oauth/:org/sovereign/agent/threshold/reshares",
    agentCall(async ({ request }, caller) => {
      const { id } = await beginReshare(admin, caller, readReshare(request).members);
      return { status: 201, body: { ceremonyId: id } };
    }),
  );
  const readMessage = bodyReader(messageBody);
  app.post(
    "/oauth/:org/sovereign/agent/threshold/messages",
    agentCall(async ({ request }, caller) => {
      const { ceremonyId, message } = readMessage(request);
      const { state } = await postMessage(admin, caller, { ceremonyId: ceremonyId.toLowerCase(), message });
      return { status: 200, body: { ceremonyId, state } };
    }),
  );
}

/** @throws CodedError for an agent with whole keys */
async function requireThresholdAgent({ signing }: ThresholdRouteDeps, caller: AgentCaller): Promise<void> {
  const pool = await signing.pools.find(caller.orgId, caller.poolId);
  if (!pool) throw codedNotFound();
  requireThresholdPool(pool);
}

/** Written at most this often: an agent claims many times a second. */
const SEEN_INTERVAL_MS = 5_000;

async function claim(
  deps: RoundDeps,
  calls: HeldCalls,
  { call, caller, wanted }: { call: Call; caller: AgentCaller; wanted: Static<typeof claimBody> },
): Promise<Answer> {
  const { orgId, poolId, agentId } = caller;
  const { boot, wait = 0, max = 1 } = wanted;
  await requireNewestStart(deps, caller, boot);
  const read = async () => {
    const rounds = await claimRounds(deps, caller, max);
    return rounds.length > 0 ? rounds : undefined;
  };
  const topics = [poolTopic(orgId, poolId), agentTopic(orgId, agentId)];
  const waiting = { topics, isExclusive: true, ms: wait * 1000, signal: calls.signalFor(call.reply) };
  const rounds = wait === 0 ? await read() : await deps.wakeUp.waitUntil(waiting, read);
  if (call.reply.raw.destroyed) await giveUp(deps, caller, { boot, rounds: rounds ?? [] });
  return { status: 200, body: { rounds: rounds ?? [], ...(await stockOf(deps, caller)) } };
}

/** The caller has hung up: it takes part in no round until it calls again. */
async function giveUp(
  { database, wakeUp }: RoundDeps,
  caller: AgentCaller,
  { boot, rounds }: { readonly boot: Boot; readonly rounds: readonly ClaimedRound[] },
): Promise<void> {
  const ids = rounds.map(({ leaseToken }) => leaseToken);
  if (ids.length > 0) await takeBackParts(database.query, caller, ids);
  await recordMemberGone(database.query, caller, boot);
  wakeUp.notify(agentTopic(caller.orgId, caller.agentId));
}

async function requireNewestStart(deps: RoundDeps, caller: AgentCaller, boot: Boot): Promise<void> {
  const { query } = deps.database;
  const member = await requireBoot(query, caller, boot);
  const seen = { now: deps.clock(), every: SEEN_INTERVAL_MS };
  if (member.seen_at <= seen.now - seen.every) await recordMemberSeen(query, caller, seen);
}

/** What is left of the agent's commitments for the pool's key; it tops them up. */
async function stockOf(deps: RoundDeps, { orgId, poolId, agentId }: AgentCaller) {
  const active = await deps.groups.active(orgId, poolId);
  if (!active) return { kid: null, ceremony: null, stock: 0 };
  const { kid, ceremonyId: ceremony } = active.key;
  const stock = await countStock(deps.database.query, orgId, { agentIds: [agentId], kid });
  return { kid, ceremony, stock: stock.get(agentId) ?? 0 };
}

async function takeShares(
  deps: RoundDeps,
  caller: AgentCaller,
  { boot, parts, claim: next }: Static<typeof sharesBody>,
): Promise<Answer> {
  await requireNewestStart(deps, caller, boot);
  const submissions = parts as readonly PartSubmission[];
  const outcomes = await submitParts(deps, caller, submissions);
  const results = outcomes.map((outcome, index) => ({
    requestId: submissions[index]?.requestId,
    ...outcome,
  }));
  const [stock, rounds] = await Promise.all([
    stockOf(deps, caller),
    next ? claimRounds(deps, caller, next.max) : [],
  ]);
  return { status: 200, body: { results, rounds, ...stock } };
}

/** What an agent needs for a ceremony, and who the others are: names and identity keys. */
async function describePool(
  { signing, admin }: ThresholdRouteDeps,
  { orgId, poolId, agentId }: AgentCaller,
  ceremonyId: string | undefined,
) {
  const { query } = signing.database;
  const pool = await findPool(query, orgId, poolId);
  if (!pool) throw codedNotFound();
  const { threshold } = requireThresholdPool(pool);
  const members = await listMembers(query, orgId, poolId);
  const wanted =
    ceremonyId === undefined
      ? (await listCeremonies(query, { orgId, poolId, limit: 1 }))[0]
      : await findCeremony(query, { orgId, poolId, id: ceremonyId.toLowerCase() });
  if (ceremonyId !== undefined && !wanted) throw codedNotFound();
  const now = signing.clock();
  const keys = (await listPoolKeys(query, orgId, poolId)).filter((key) => key.ceremonyId !== null);
  return {
    pool: signingPoolUrl(admin.baseUrl, pool),
    threshold,
    agentId,
    agents: members.map((one) => ({ agentId: one.agent_id, name: one.name, kid: one.kid })),
    keys: keys.map((key) => ({ kid: key.kid, ceremonyId: key.ceremonyId, state: agentKeyState(key, now) })),
    ceremony: wanted ? await describeCeremony(signing, wanted) : null,
  };
}

async function describeCeremony({ database }: SigningDeps, row: CeremonyRow) {
  const messages = await listMessages(database.query, row.org_id, row.id);
  return {
    ...{ ceremonyId: row.id, kind: row.kind, state: row.state, min: row.min_signers, max: row.max_signers },
    ...{ begunBy: row.begun_by, kid: row.kid, from: row.from_ceremony, members: membersOf(row) },
    endReason: row.end_reason,
    messages: messages.map(({ agent_id, round, message }) => ({ agentId: agent_id, round, message })),
  };
}

function send(reply: FastifyReply, { status, body }: Answer): FastifyReply {
  if (status === 200) return sendJson(reply, JSON.stringify(body));
  return reply
    .code(status)
    .header("cache-control", "no-store")
    .type("application/json")
    .send(JSON.stringify(body));
}
