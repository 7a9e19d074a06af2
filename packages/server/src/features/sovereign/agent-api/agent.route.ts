/**
 * The agent API (sovereign-signing.md §5): an agent polls the queue, claims a request, then signs it, challenges the user or
 * rejects it. Agents pull, so that nothing has to reach into the organisation's network.
 */
import type { FastifyInstance, FastifyReply, RouteHandlerMethod } from "fastify";
import type { Organisation } from "../../../core/organisations/organisation.ts";
import type { OrganisationDirectory } from "../../../core/organisations/organisations.ts";
import { type InOrganisation, inOrganisation } from "../../../http/organisation-lookup.ts";
import { sendJson } from "../../../http/send-json.ts";
import { agentTopic, poolTopic } from "../notify/wake-up.ts";
import { challengeUser } from "../requests/challenge/challenge-user.ts";
import { claimRequest, undoClaim } from "../requests/claim-request.ts";
import { rejectRequest } from "../requests/reject-request.ts";
import { signRequest } from "../requests/sign-request.ts";
import type { AgentCaller, SigningDeps } from "../requests/signing-request.ts";
import { type AgentAnswer, challengeAnswer, claimAnswer, rejectAnswer, signAnswer } from "./agent-answer.ts";
import { type AgentAuthenticationDeps, authenticateAgent } from "./agent-authentication.ts";
import {
  bodyReader,
  challengeBody,
  claimBody,
  readQueueQuery,
  rejectBody,
  requireShowable,
  signBody,
} from "./agent-body.ts";
import { readQueue, renewLeases } from "./agent-queue.ts";

interface AgentRouteDeps extends AgentAuthenticationDeps {
  readonly organisations: Pick<OrganisationDirectory, "find">;
  readonly signing: SigningDeps;
}

type Call = InOrganisation<Organisation>;

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
  const readClaim = bodyReader(claimBody);
  app.post(
    "/oauth/:org/sovereign/agent/claim",
    agentCall(async ({ request, reply }, caller) => {
      const { wait = 0, ...claim } = readClaim(request);
      const isHeld = wait > 0 && claim.requestId === undefined;
      const claimed = isHeld
        ? await waitForClaim(signing, caller, claim.kids, { ms: wait * 1000, signal: calls.signalFor(reply) })
        : await claimRequest(signing, caller, claim);
      if (claimed.outcome === "claimed" && reply.raw.destroyed) await undoClaim(signing, caller, claimed);
      return claimAnswer(claimed);
    }),
  );
  const readSignature = bodyReader(signBody);
  app.post(
    "/oauth/:org/sovereign/agent/sign",
    agentCall(async ({ request }, caller) => {
      const { requestId, leaseToken, jwts, jwt } = readSignature(request);
      const submission = { requestId, leaseToken, jwts: submittedJwts(jwts, jwt) };
      return signAnswer(requestId, await signRequest(signing, caller, submission));
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

async function waitForClaim(
  signing: SigningDeps,
  caller: AgentCaller,
  kids: readonly string[],
  { ms, signal }: { readonly ms: number; readonly signal: AbortSignal },
) {
  const waiting = { topics: [poolTopic(caller.orgId, caller.poolId)], isExclusive: true, ms, signal };
  const claimed = await signing.wakeUp.waitUntil(waiting, async () => {
    const outcome = await claimRequest(signing, caller, { kids });
    return outcome.outcome === "nothing" ? undefined : outcome;
  });
  return claimed ?? ({ outcome: "nothing" } as const);
}

/** `jwt` stands for the access token; anything but an object has no tokens. */
function submittedJwts(jwts: unknown, jwt: unknown): { access_token?: unknown; id_token?: unknown } {
  if (jwts === undefined) return { access_token: jwt };
  return typeof jwts === "object" && jwts !== null ? jwts : {};
}

/** Claims and signatures come by the hundred a second: `sendJson` bypasses Fastify's serialisation. */
function send(reply: FastifyReply, { status, body }: AgentAnswer): FastifyReply {
  if (status === 200) return sendJson(reply, JSON.stringify(body));
  reply.code(status).header("cache-control", "no-store");
  if (body === undefined) return reply.send();
  return reply.type("application/json").send(JSON.stringify(body));
}

type HeldCalls = ReturnType<typeof heldCalls>;

/** The reason of an abort; the default would be an error with a stack trace. */
const GONE = "gone";

function heldCalls() {
  const controllers = new Set<AbortController>();
  let isStopping = false;
  return {
    /** Aborts when the call must no longer wait. */
    signalFor: ({ raw }: FastifyReply): AbortSignal => {
      const controller = new AbortController();
      controllers.add(controller);
      raw.once("close", () => {
        controllers.delete(controller);
        controller.abort(GONE);
      });
      if (isStopping || raw.destroyed) controller.abort(GONE);
      return controller.signal;
    },
    endAll: (): void => {
      isStopping = true;
      for (const controller of controllers) controller.abort(GONE);
    },
  };
}
