/**
 * The signing requests of the sovereign pools, as the rest of the feature uses them: every change of state is one
 * conditional statement on the database, so that any node may do it, and whoever waits is only woken to read again.
 */
import type { CountActivity } from "../../../core/activity/kinds.ts";
import type { Clock } from "../../../core/clock.ts";
import type { Encryption } from "../../../core/encryption/encryption.ts";
import type { SigningPoolDirectory } from "../../../core/signing-pools/directory.ts";
import { databaseClock } from "../../../db/database-clock.ts";
import type { Database, Db } from "../../../db/open.ts";
import { agentQueue, renew } from "../agent-api/agent-queue.ts";
import type {
  AgentCaller,
  AgentQueue,
  ChallengeAnswer,
  ChallengeOutcome,
  Claim,
  ClaimOutcome,
  JoinedRequest,
  NewSigningRequest,
  Rejection,
  RejectOutcome,
  ReleasedRequest,
  ReleasedTokens,
  RenewedLeases,
  RequestStatus,
  RespondOutcome,
  SignOutcome,
  Submission,
} from "../agent-api/request-messages.ts";
import { safetyPoll } from "../notify/safety-poll.ts";
import { agentTopic, openWakeUp, poolTopic, requestTopic, type WakeUp } from "../notify/wake-up.ts";
import { cancel, challenge, respond } from "./challenge/ask-user.ts";
import { claim, handBack } from "./claim-request.ts";
import { createRequest, joinWaiting } from "./create-request.ts";
import { currentRow, poolSweeps } from "./expire-requests.ts";
import { reject } from "./reject-request.ts";
import type { RequestDeps } from "./request-deps.ts";
import { release, requestStatus, takeContinuation } from "./request-status.ts";
import { sign } from "./signing/sign-request.ts";
import { extendSigned, leaveRequest } from "./signing-request.store.ts";
import type { Challenge, RequestState } from "./signing-request.ts";

export interface SovereignRequestsDeps {
  readonly database: Database;
  readonly encryption: Encryption;
  readonly pools: Pick<SigningPoolDirectory, "find" | "published">;
  /** For tests; absent: the database's own time, the same on every node. */
  readonly clock?: Clock;
  /** What becomes of the requests; absent: nobody counts. */
  readonly count?: CountActivity;
}

export interface SovereignRequests {
  /** `no_agent`: nobody of the pool was there in the last minute, and no browser waits; nothing is queued. */
  create(input: NewSigningRequest): Promise<{ readonly requestId: string } | "no_agent" | "queue_full">;
  /** Takes up what an earlier call began, when nobody waits for it any more. */
  join(input: JoinedRequest): Promise<{ readonly requestId: string } | undefined>;
  /** The caller of the token endpoint goes away: the next one may join. */
  leave(orgId: string, requestId: string, waiter: string): Promise<void>;
  claim(agent: AgentCaller, claim: Claim): Promise<ClaimOutcome>;
  /** Of a claim that its caller has not heard of: it waits again as if it had not been claimed. */
  handBack(
    agent: AgentCaller,
    held: { readonly requestId: string; readonly leaseToken: string },
  ): Promise<void>;
  sign(agent: AgentCaller, submission: Submission): Promise<SignOutcome>;
  challenge(
    agent: AgentCaller,
    lease: { readonly requestId: string; readonly leaseToken: string },
    challenge: Challenge,
  ): Promise<ChallengeOutcome>;
  reject(agent: AgentCaller, rejection: Rejection): Promise<RejectOutcome>;
  renew(agent: AgentCaller, requestIds: readonly string[]): Promise<RenewedLeases>;
  /** What an agent could claim, oldest first, and the answers to its challenges; nothing is changed. */
  agentQueue(agent: AgentCaller, max: number, known?: readonly string[]): Promise<AgentQueue>;
  /** The user's answer to the challenge that is open. */
  respond(orgId: string, requestId: string, answer: ChallengeAnswer): Promise<RespondOutcome>;
  /**
   * The user's no.
   * @param address where the browser is, for the audit log
   * @returns false when it was final already, or (with `challengeId`) asks something else by now
   */
  cancel(orgId: string, requestId: string, challengeId?: string, address?: string): Promise<boolean>;
  /** As it is now: what has lapsed is settled first. */
  status(orgId: string, requestId: string): Promise<RequestStatus | undefined>;
  /**
   * The one release: hands the JWTs out and forgets them. In the caller's transaction, so that what it consumes (a
   * refresh token, a code) is consumed with it or not at all.
   * @returns undefined when they are not signed, released before, or expired
   */
  release(db: Db, which: ReleasedRequest): Promise<ReleasedTokens | undefined>;
  /**
   * The one way on for the browser, when the request is signed, failed or expired: what `create` was given, once.
   * @returns undefined when it was taken before, or still waits
   */
  takeContinuation(
    db: Db,
    which: { readonly orgId: string; readonly requestId: string },
  ): Promise<{ readonly continuation: unknown; readonly state: RequestState } | undefined>;
  /** Keeps signed JWTs until then, e.g. until the code expires that stands for them. @returns false when not signed */
  keepUntil(db: Db, which: { orgId: string; requestId: string; until: number }): Promise<boolean>;
  /**
   * Waits until the request is past `sinceSeq`, at most `ms`. Its status then (or at the end of the time, or when the
   * signal aborts); undefined when there is none. Call it with the seq of the status that was read last.
   */
  waitFor(
    orgId: string,
    requestId: string,
    sinceSeq: number,
    ms: number,
    signal?: AbortSignal,
  ): Promise<RequestStatus | undefined>;
  /**
   * Looks until there is something, at most `ms`: at once, after each news of the pool, and now and then. One waiter is
   * woken for each request, so `look` should take it (claim).
   */
  waitForPool<T>(
    agent: AgentCaller,
    look: () => Promise<T | undefined>,
    ms: number,
    signal?: AbortSignal,
  ): Promise<T | undefined>;
  /** The same for the queue poll: every waiter of the agent hears of its answers, and (`withPool`) of new requests. */
  waitForAgent<T>(
    agent: AgentCaller,
    look: () => Promise<T | undefined>,
    options: { readonly ms: number; readonly withPool: boolean; readonly signal?: AbortSignal },
  ): Promise<T | undefined>;
  /** The time that all of it is judged by. */
  readonly clock: Clock;
  /** Ends every wait at once, for a server that stops; nothing else is lost. */
  close(): Promise<void>;
}

/** @throws when the database does not answer */
export async function openSovereignRequests(deps: SovereignRequestsDeps): Promise<SovereignRequests> {
  const { database, encryption, pools } = deps;
  const shared = deps.clock ? undefined : await databaseClock(database);
  const clock = deps.clock ?? shared?.now ?? Date.now;
  const wakeUp = await openWakeUp(database);
  const { count = () => {} } = deps;
  const notedExps = new Map<string, number>();
  const inner = { database, encryption, pools, clock, wakeUp, notedExps, count };
  const poll = safetyPoll(inner);
  return {
    ...agentCalls(inner),
    ...browserCalls(inner),
    ...waits(inner),
    create: (input) => createRequest(inner, input),
    join: (input) => joinWaiting(inner, input),
    leave: (orgId, requestId, waiter) => leaveRequest(database.query, { orgId, requestId }, waiter),
    release: (db, which) => release(inner, db, which),
    keepUntil: (db, kept) => extendSigned(db, { ...kept, now: clock() }),
    clock,
    close: async () => {
      await wakeUp.close();
      await poll.stop();
      shared?.close();
    },
  };
}

type AgentCalls = Pick<
  SovereignRequests,
  "claim" | "handBack" | "sign" | "challenge" | "reject" | "renew" | "agentQueue"
>;

function agentCalls(inner: RequestDeps): AgentCalls {
  const sweep = poolSweeps(inner);
  return {
    claim: async (agent, wanted) => {
      const { requestId } = wanted;
      if (requestId === undefined) await sweep(agent.orgId, agent.poolId);
      else await currentRow(inner, { orgId: agent.orgId, requestId });
      return claim(inner, agent, wanted);
    },
    handBack: (agent, held) => handBack(inner, agent, held),
    sign: (agent, submission) => sign(inner, agent, submission),
    challenge: (agent, lease, asked) => challenge(inner, agent, lease, asked),
    reject: (agent, rejection) => reject(inner, agent, rejection),
    renew: (agent, requestIds) => renew(inner, agent, requestIds),
    agentQueue: async (agent, max, known) => {
      await sweep(agent.orgId, agent.poolId);
      return agentQueue(inner, agent, max, known);
    },
  };
}

type BrowserCalls = Pick<SovereignRequests, "respond" | "cancel" | "status" | "takeContinuation">;

const browserCalls = (inner: RequestDeps): BrowserCalls => ({
  respond: (orgId, requestId, answer) => respond(inner, { orgId, requestId }, answer),
  cancel: (orgId, requestId, challengeId, address) =>
    cancel(inner, { orgId, requestId }, challengeId, address),
  status: (orgId, requestId) => requestStatus(inner, { orgId, requestId }),
  takeContinuation: (db, which) => takeContinuation(inner, db, which),
});

type Waits = Pick<SovereignRequests, "waitFor" | "waitForPool" | "waitForAgent">;

function waits(inner: RequestDeps & { readonly wakeUp: WakeUp }): Waits {
  const { wakeUp } = inner;
  return {
    waitFor: async (orgId, requestId, sinceSeq, ms, signal) => {
      const read = () => requestStatus(inner, { orgId, requestId });
      const topics = [requestTopic(orgId, requestId)];
      let latest: RequestStatus | undefined;
      const news = await wakeUp.until({ topics, taking: false, ms, signal }, async () => {
        latest = await read();
        return !latest || latest.seq > sinceSeq ? { status: latest } : undefined;
      });
      return news ? news.status : (latest ?? read());
    },
    waitForPool: ({ orgId, poolId }, look, ms, signal) =>
      wakeUp.until({ topics: [poolTopic(orgId, poolId)], taking: true, ms, signal }, look),
    waitForAgent: ({ orgId, poolId, agentId }, look, { ms, withPool, signal }) => {
      const topics = [agentTopic(orgId, agentId), ...(withPool ? [poolTopic(orgId, poolId)] : [])];
      return wakeUp.until({ topics, taking: false, ms, signal }, look);
    },
  };
}
