/**
 * What an agent calls (sovereign-signing.md §5): it asks for work, takes it, and signs it, asks the user, or gives it back.
 * Pulled by the agent, so that nobody has to reach into the organisation's network.
 */
import type { FastifyInstance, FastifyReply } from "fastify";
import type { Organisation } from "../../../core/organisations/organisation.ts";
import type { OrganisationDirectory } from "../../../core/organisations/organisations.ts";
import { type InOrganisation, inOrganisation } from "../../../http/organisation-lookup.ts";
import { sendJson } from "../../../http/send-json.ts";
import type { SovereignRequests } from "../requests/sovereign-requests.ts";
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
import { heldCalls } from "./held-calls.ts";
import type { AgentCaller } from "./request-messages.ts";

export interface AgentRouteDeps extends AgentAuthenticationDeps {
  readonly organisations: Pick<OrganisationDirectory, "find">;
  readonly requests: SovereignRequests;
}

type Handler = (
  caller: AgentCaller,
  context: InOrganisation<Organisation>,
  signal: () => AbortSignal,
) => Promise<AgentAnswer>;

export function agentRoutes(app: FastifyInstance, deps: AgentRouteDeps): void {
  const held = heldCalls();
  // Who waits is answered when the server stops, and asks another one.
  app.addHook("preClose", (done) => {
    held.endAll();
    done();
  });
  const route = (method: "GET" | "POST", name: string, handler: Handler) =>
    app.route({
      method,
      url: `/oauth/:org/sovereign/agent/${name}`,
      handler: inOrganisation<Organisation>(deps.organisations.find, async (context) => {
        const caller = await authenticateAgent(deps, context.organisation, context.request);
        const answer = await handler(caller, context, () => held.signalFor(context.reply));
        return send(context.reply, answer);
      }),
    });
  queueRoute(route, deps);
  claimRoute(route, deps);
  leaseRoutes(route, deps);
}

type Route = (method: "GET" | "POST", name: string, handler: Handler) => void;

function queueRoute(route: Route, deps: AgentRouteDeps): void {
  const { requests } = deps;
  route("GET", "queue", async (caller, { request, organisation }, signal) => {
    const { wait, max, renew, known } = readQueueQuery(request);
    const leases = renew.length > 0 ? await requests.renew(caller, renew) : { renewed: [], lost: [] };
    const look = async () => {
      const queue = await requests.agentQueue(caller, max, known);
      const hasNews = queue.pending.length + queue.responses.length + leases.lost.length > 0;
      return hasNews ? queue : undefined;
    };
    const found =
      wait === 0
        ? await look()
        : await requests.waitForAgent(caller, look, {
            ms: wait * 1000,
            withPool: max > 0,
            signal: signal(),
          });
    // Its agent may have been ended while it was held.
    if (wait > 0) await authenticateAgent(deps, organisation, request);
    const queue = found ?? { serverTime: requests.clock(), pending: [], responses: [] };
    return { status: 200, body: { ...queue, ...leases } };
  });
}

function claimRoute(route: Route, { requests }: AgentRouteDeps): void {
  const read = bodyReader(claimBody);
  route("POST", "claim", async (caller, { request, reply }, signal) => {
    const { requestId, kids, wait = 0 } = read(request);
    const claim = () => requests.claim(caller, { kids, ...(requestId === undefined ? {} : { requestId }) });
    const look = async () => {
      const claimed = await claim();
      return claimed.outcome === "nothing" ? undefined : claimed;
    };
    const isHeld = wait > 0 && requestId === undefined;
    const found = isHeld ? await requests.waitForPool(caller, look, wait * 1000, signal()) : await look();
    if (found?.outcome === "claimed" && reply.raw.destroyed) await requests.handBack(caller, found);
    return claimAnswer(found ?? { outcome: "nothing" });
  });
}

/** What is done with a request that was claimed. */
function leaseRoutes(route: Route, { requests }: AgentRouteDeps): void {
  const readSign = bodyReader(signBody);
  route("POST", "sign", async (caller, { request }) => {
    const { requestId, leaseToken, jwts, jwt } = readSign(request);
    const signed = { requestId, leaseToken, jwts: submitted(jwts, jwt) };
    return signAnswer(requestId, await requests.sign(caller, signed));
  });
  const readChallenge = bodyReader(challengeBody);
  route("POST", "challenge", async (caller, { request }) => {
    const sent = readChallenge(request);
    requireShowable(sent);
    const { requestId, leaseToken, challengeId, type, prompt, display, options, publicKey, ttl } = sent;
    const challenge = {
      challengeId,
      type,
      prompt,
      ttl,
      ...(display === undefined ? {} : { display }),
      ...(options === undefined ? {} : { options }),
      ...(publicKey === undefined ? {} : { publicKey }),
    };
    return challengeAnswer(await requests.challenge(caller, { requestId, leaseToken }, challenge));
  });
  const readReject = bodyReader(rejectBody);
  route("POST", "reject", async (caller, { request }) => {
    const { requestId, leaseToken, reason, detail, retryable = false } = readReject(request);
    const rejection = { requestId, leaseToken, reason, retryable };
    return rejectAnswer(
      await requests.reject(caller, { ...rejection, ...(detail === undefined ? {} : { detail }) }),
    );
  });
}

/** `jwt` stands for the access token; what is no object has no token in it. */
function submitted(jwts: unknown, jwt: unknown): { access_token?: unknown; id_token?: unknown } {
  if (jwts === undefined) return { access_token: jwt };
  return typeof jwts === "object" && jwts !== null ? jwts : {};
}

/** Claims and signatures go by the hundred a second: they skip Fastify's own way out. */
function send(reply: FastifyReply, { status, body }: AgentAnswer): FastifyReply {
  if (status === 200) return sendJson(reply, JSON.stringify(body));
  reply.code(status).header("cache-control", "no-store");
  if (body === undefined) return reply.send();
  return reply.type("application/json").send(JSON.stringify(body));
}
