/**
 * The agent API (sovereign-signing.md §5): an agent polls the queue, claims a request, then signs it, challenges the user or
 * rejects it. Agents pull, so that nothing has to reach into the organisation's network.
 */
import type { FastifyInstance, FastifyReply, RouteHandlerMethod } from "fastify";
import type { Organisation } from "../../../core/organisations/organisation.ts";
import type { OrganisationDirectory } from "../../../core/organisations/organisations.ts";
import { inOrganisation } from "../../../http/organisation-lookup.ts";
import { sendJson } from "../../../http/send-json.ts";
import { agentTopic, poolTopic } from "../notify/wake-up.ts";
import { approveRequest } from "../requests/approvals/approve-request.ts";
import { challengeUser } from "../requests/challenge/challenge-user.ts";
import { rejectRequest } from "../requests/reject-request.ts";
import type { AgentCaller, SigningDeps } from "../requests/signing-request.ts";
import { type AgentAnswer, approveAnswer, challengeAnswer, rejectAnswer } from "./agent-answer.ts";
import { type AgentAuthenticationDeps, authenticateAgent } from "./agent-authentication.ts";
import {
  approveBody,
  bodyReader,
  challengeBody,
  claimReader,
  readQueueQuery,
  rejectBody,
  requireShowable,
  signReader,
} from "./agent-body.ts";
import { readQueue, renewLeases } from "./agent-queue.ts";
import { claimCall, signCall } from "./claim-and-sign.ts";
import { type Call, type HeldCalls, heldCalls } from "./held-calls.ts";

interface AgentRouteDeps extends AgentAuthenticationDeps {
  readonly organisations: Pick<OrganisationDirectory, "find">;
  readonly signing: SigningDeps;
}

export function agentRoutes(app: FastifyInstance, deps: AgentRouteDeps): void {
  const calls = heldCalls();
  // On shutdown a held call is answered, and its agent asks another node.
  app.addHook("preClose", async () => calls.endAll());
  const agentCall = (answer: (call: Call, caller: AgentCaller) => Promise<AgentAnswer>): RouteHandlerMethod =>
    inOrganisation<Organisation>(deps.organisations.find, async (call) => {
      const caller = await authenticateAgent(deps, call.organisation, call.request);
      return send(call.reply, await answer(call, caller));
    });
  const { signing } = deps;

  app.get(
    "/oauth/:org/sovereign/agent/queue",
    agentCall((call, caller) => pollQueue(deps, calls, call, caller)),
  );
  const readClaim = claimReader();
  app.post(
    "/oauth/:org/sovereign/agent/claim",
    agentCall((call, caller) => claimCall(signing, calls, { call, caller, wanted: readClaim(call.request) })),
  );
  const readSignatures = signReader();
  app.post(
    "/oauth/:org/sovereign/agent/sign",
    agentCall((call, caller) => signCall(signing, { call, caller, body: readSignatures(call.request) })),
  );
  const readApproval = bodyReader(approveBody);
  app.post(
    "/oauth/:org/sovereign/agent/approve",
    agentCall(async ({ request }, caller) => {
      const approved = readApproval(request);
      return approveAnswer(approved.requestId, await approveRequest(signing, caller, approved));
    }),
  );
  const readChallenge = bodyReader(challengeBody);
  app.post(
    "/oauth/:org/sovereign/agent/challenge",
    agentCall(async ({ request }, caller) => {
      const { requestId, leaseToken, ...challenge } = readChallenge(request);
      requireShowable(challenge);
      return challengeAnswer(await challengeUser(signing, caller, { requestId, leaseToken }, challenge));
    }),
  );
  const readRejection = bodyReader(rejectBody);
  app.post(
    "/oauth/:org/sovereign/agent/reject",
    agentCall(async ({ request }, caller) => {
      const { retryable = false, ...rejection } = readRejection(request);
      return rejectAnswer(await rejectRequest(signing, caller, { ...rejection, retryable }));
    }),
  );
}

async function pollQueue(
  deps: AgentRouteDeps,
  calls: HeldCalls,
  { request, organisation, reply }: Call,
  caller: AgentCaller,
): Promise<AgentAnswer> {
  const { signing } = deps;
  const { orgId, poolId, agentId } = caller;
  const { wait, max, renew, known } = readQueueQuery(request);
  const leases = await renewLeases(signing, caller, renew);
  const readNews = async () => {
    const queue = await readQueue(signing, caller, max, known);
    return queue.pending.length + queue.responses.length + leases.lost.length > 0 ? queue : undefined;
  };
  const empty = () => ({ serverTime: signing.clock(), pending: [], responses: [] });
  if (wait === 0) return { status: 200, body: { ...((await readNews()) ?? empty()), ...leases } };

  const topics = [agentTopic(orgId, agentId), ...(max > 0 ? [poolTopic(orgId, poolId)] : [])];
  const waiting = { topics, isExclusive: false, ms: wait * 1000, signal: calls.signalFor(reply) };
  const queue = await signing.wakeUp.waitUntil(waiting, readNews);
  // The agent may have been deactivated while its call was held.
  await authenticateAgent(deps, organisation, request);
  return { status: 200, body: { ...(queue ?? empty()), ...leases } };
}

/** Claims and signatures come by the hundred a second: `sendJson` bypasses Fastify's serialisation. */
function send(reply: FastifyReply, { status, body }: AgentAnswer): FastifyReply {
  if (status === 200) return sendJson(reply, JSON.stringify(body));
  reply.code(status).header("cache-control", "no-store");
  if (body === undefined) return reply.send();
  return reply.type("application/json").send(JSON.stringify(body));
}
