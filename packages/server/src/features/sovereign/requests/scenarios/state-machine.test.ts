/** The state machine against its model (sovereign-signing.md §3). */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import fc from "fast-check";
import { forEachDatabase } from "../../../../testing/databases.ts";
import { type FakeClock, fakeClock } from "../../../../testing/fakes/fake-clock.ts";
import {
  openSigningHarness,
  type SigningHarness,
  type SoftAgent,
} from "../../../../testing/fixtures/signing-harness.ts";
import {
  fail,
  type ModelRequest,
  modelCancel,
  modelChallenge,
  modelClaim,
  modelRefusal,
  modelRenew,
  modelRespond,
  modelSign,
  passTime,
  returnToPending,
  type SigningModel,
} from "../../../../testing/fixtures/signing-model.ts";
import { releaseNow, SECOND } from "../../../../testing/fixtures/signing-steps.ts";
import { renewLeases } from "../../agent-api/agent-queue.ts";
import { answerChallenge, cancelRequest, challengeUser } from "../challenge/challenge-user.ts";
import { type ClaimOutcome, claimRequest, claimRequests } from "../claim-request.ts";
import { createRequest } from "../create-request.ts";
import { rejectRequest } from "../reject-request.ts";
import { requestStatus } from "../request-status.ts";
import { signRequest, signRequests } from "../sign-request.ts";
import type { RenderedToken } from "../signing-request.ts";

/** What the model is compared with. */
interface Real {
  readonly harness: SigningHarness;
  readonly clock: FakeClock;
  readonly poolId: string;
  readonly agents: readonly SoftAgent[];
  /** Of each lease, by its token. */
  readonly tokens: Map<string, readonly RenderedToken[]>;
  /** How often each request's tokens were handed out. */
  readonly released: Map<string, number>;
  readonly seqs: Map<string, number>;
}

/** Each run makes up its own steps, so that many test runs try much. SIGNET_TEST_WHOLE=1 goes on for longer. */
const RUNS =
  process.env["SIGNET_TEST_WHOLE"] === "1" ? { sqlite: 60, postgres: 60 } : { sqlite: 30, postgres: 15 };

type Step = (model: SigningModel, real: Real) => Promise<void>;

/** Each request is where the model has it, its seq never goes back. What is read is settled: so it is not read always. */
async function compare({ requests }: SigningModel, { harness, seqs }: Real): Promise<void> {
  for (const request of requests) {
    const status = await requestStatus(harness.signing, { orgId: harness.orgId, requestId: request.id });
    assert.deepEqual([status?.state, status?.failReason], [request.state, request.reason]);
    const seen = seqs.get(request.id) ?? 0;
    assert.ok((status?.seq ?? 0) >= seen, "seq goes back");
    seqs.set(request.id, status?.seq ?? 0);
  }
}

const command = (name: string, step: Step): fc.AsyncCommand<SigningModel, Real> => ({
  check: () => true,
  run: step,
  toString: () => name,
});

const pick = <T>(list: readonly T[], index: number): T | undefined => list[index % Math.max(list.length, 1)];

const create =
  (interactive: boolean): Step =>
  async (model, real) => {
    for (const agent of real.agents) await agent.seen();
    const { poolId, harness } = real;
    const made = await createRequest(harness.signing, harness.newRequest({ poolId, interactive }));
    assert.ok(typeof made !== "string");
    model.requests.push({
      id: made.requestId,
      interactive,
      createdAt: model.now,
      state: "pending",
      reason: null,
      expiresAt: model.now + (interactive ? 300 : 60),
      attempts: 0,
      lease: undefined,
      leaseUntil: 0,
      challenges: 0,
      challengeId: undefined,
      challengeUntil: 0,
      bad: 0,
      signer: undefined,
      refusedBy: new Set(),
      leases: [],
    });
  };

function noteClaim(model: SigningModel, real: Real, agent: number, claim: ClaimOutcome): ModelRequest {
  assert.ok(claim.outcome === "claimed");
  const request = model.requests.find(({ id }) => id === claim.requestId);
  assert.ok(request);
  real.tokens.set(claim.leaseToken, claim.tokens);
  modelClaim(request, model.now, { agent, token: claim.leaseToken, iat: model.now });
  assert.equal(claim.attempt, request.attempts);
  return request;
}

const claimNext =
  (agent: number): Step =>
  async (model, real) => {
    const soft = real.agents[agent];
    assert.ok(soft);
    const open = model.requests.filter(
      ({ state, refusedBy }) => state === "pending" && !refusedBy.has(agent),
    );
    const claim = await claimRequest(real.harness.signing, soft.caller, { kids: [soft.kid] });
    if (open.length === 0) return assert.equal(claim.outcome, "nothing");
    const oldest = Math.min(...open.map(({ createdAt }) => createdAt));
    assert.equal(noteClaim(model, real, agent, claim).createdAt, oldest);
  };

const claimSeveral =
  (agent: number, max: number): Step =>
  async (model, real) => {
    const soft = real.agents[agent];
    assert.ok(soft);
    const open = model.requests.filter(
      ({ state, refusedBy }) => state === "pending" && !refusedBy.has(agent),
    );
    const times = open.map(({ createdAt }) => createdAt).toSorted((one, other) => one - other);
    const claims = await claimRequests(real.harness.signing, soft.caller, { kids: [soft.kid], max });
    assert.ok(claims.outcome === "claimed");
    const claimed = claims.requests.map((claim) => noteClaim(model, real, agent, claim));
    assert.deepEqual(
      claimed.map(({ createdAt }) => createdAt),
      times.slice(0, max),
    );
  };

/** The last lease of each request, in one call of one agent; those of another agent are refused. */
const signSeveral =
  (agent: number, badIndex: number): Step =>
  async (model, real) => {
    const soft = real.agents[agent];
    assert.ok(soft);
    const held = model.requests.flatMap((request) => {
      const lease = request.leases.at(-1);
      return lease?.agent === agent ? [{ request, lease, leaseIndex: request.leases.length - 1 }] : [];
    });
    const submissions = held.map(({ request, lease }, at) => {
      const jwts = soft.signed(real.tokens.get(lease.token) ?? []);
      const sent = at === badIndex ? { access_token: `${jwts.access_token}A` } : jwts;
      return { requestId: request.id, leaseToken: lease.token, jwts: sent };
    });
    const signed = await signRequests(real.harness.signing, soft.caller, submissions);
    assert.deepEqual(
      signed.map(({ outcome }) => outcome),
      held.map(({ request, leaseIndex }, at) => modelSign(request, model.now, leaseIndex, at !== badIndex)),
    );
    for (const [at, one] of signed.entries())
      if (one.outcome === "stale_payload") real.tokens.set(held[at]?.lease.token ?? "", one.tokens);
  };

const claimOne =
  (agent: number, index: number): Step =>
  async (model, real) => {
    const soft = real.agents[agent];
    const request = pick(model.requests, index);
    if (!soft || !request) return;
    const wanted = { requestId: request.id, kids: [soft.kid] };
    const claim = await claimRequest(real.harness.signing, soft.caller, wanted);
    if (request.state !== "pending" || request.refusedBy.has(agent))
      return assert.equal(claim.outcome, "not_claimable");
    noteClaim(model, real, agent, claim);
  };

/** A call with some lease that the request has had: the one that holds, as a rule. */
const withLease =
  (
    index: number,
    lease: number,
    step: (
      request: ModelRequest,
      leaseIndex: number,
      held: { agent: SoftAgent; requestId: string; leaseToken: string },
      model: SigningModel,
      real: Real,
    ) => Promise<void>,
  ): Step =>
  async (model, real) => {
    const request = pick(model.requests, index);
    const leaseIndex = request && (lease < 3 ? request.leases.length - 1 : lease % request.leases.length);
    const chosen = leaseIndex === undefined ? undefined : request?.leases[leaseIndex];
    const agent = chosen && real.agents[chosen.agent];
    if (!request || !chosen || !agent || leaseIndex === undefined) return;
    await step(request, leaseIndex, { agent, requestId: request.id, leaseToken: chosen.token }, model, real);
  };

const sign = (index: number, lease: number, isGood: boolean): Step =>
  withLease(index, lease, async (request, leaseIndex, { agent, ...held }, model, real) => {
    const good = agent.signed(real.tokens.get(held.leaseToken) ?? []);
    const jwts = isGood ? good : { access_token: `${good.access_token}A` };
    const signed = await signRequest(real.harness.signing, agent.caller, { ...held, jwts });
    assert.equal(signed.outcome, modelSign(request, model.now, leaseIndex, isGood));
    if (signed.outcome === "stale_payload") real.tokens.set(held.leaseToken, signed.tokens);
  });

const challenge = (index: number, lease: number, challengeId: string): Step =>
  withLease(index, lease, async (request, leaseIndex, { agent, ...held }, model, real) => {
    const asked = { challengeId, type: "confirm", prompt: "Sure?", ttl: 120 } as const;
    const { outcome } = await challengeUser(real.harness.signing, agent.caller, held, asked);
    assert.equal(outcome, modelChallenge(request, model.now, leaseIndex, challengeId));
  });

const reject = (index: number, lease: number, retryable: boolean): Step =>
  withLease(index, lease, async (request, leaseIndex, { agent, ...held }, _model, real) => {
    const rejection = { ...held, reason: "policy_denied", retryable } as const;
    const { outcome } = await rejectRequest(real.harness.signing, agent.caller, rejection);
    const refusal = modelRefusal(request, leaseIndex);
    assert.equal(outcome, refusal ?? (retryable ? "pending" : "failed"));
    if (refusal) return;
    if (retryable) {
      request.refusedBy.add(request.leases[leaseIndex]?.agent ?? -1);
      returnToPending(request);
    } else fail(request, "policy_denied");
  });

const ofRequest = (
  index: number,
  step: (request: ModelRequest, model: SigningModel, real: Real) => Promise<void>,
) =>
  (async (model, real) => {
    const request = pick(model.requests, index);
    if (request) await step(request, model, real);
  }) satisfies Step;

const respond = (index: number, challengeId: string): Step =>
  ofRequest(index, async (request, _model, { harness }) => {
    const outcome = await answerChallenge(
      harness.signing,
      { orgId: harness.orgId, requestId: request.id },
      { challengeId, answer: "42" },
    );
    assert.equal(outcome, modelRespond(request, challengeId));
  });

const cancel = (index: number): Step =>
  ofRequest(index, async (request, _model, { harness }) => {
    assert.equal(
      await cancelRequest(harness.signing, { orgId: harness.orgId, requestId: request.id }),
      modelCancel(request),
    );
  });

const release = (index: number): Step =>
  ofRequest(index, async (request, _model, { harness, released }) => {
    const { orgId } = harness;
    const tokens = await releaseNow(harness.signing, harness.database.query, {
      orgId,
      requestId: request.id,
    });
    assert.equal(tokens !== undefined, request.state === "signed");
    if (!tokens) return;
    request.state = "released";
    released.set(request.id, (released.get(request.id) ?? 0) + 1);
    assert.equal(released.get(request.id), 1);
  });

const renew =
  (agent: number): Step =>
  async (model, real) => {
    const soft = real.agents[agent];
    assert.ok(soft);
    const ids = model.requests.map(({ id }) => id);
    const { renewed, lost } = await renewLeases(real.harness.signing, soft.caller, ids);
    const kept = model.requests.filter((request) => modelRenew(request, model.now, agent));
    assert.deepEqual(
      renewed.map(({ requestId }) => requestId).toSorted(),
      kept.map(({ id }) => id).toSorted(),
    );
    assert.equal(lost.length, ids.length - kept.length);
  };

const advance =
  (seconds: number): Step =>
  async (model, real) => {
    real.clock.advance(seconds * SECOND);
    passTime(model, seconds);
  };

const AGENTS = 2;
const agentIndex = fc.nat(AGENTS - 1);
const index = fc.nat(2);
const lease = fc.nat(5);
/** A request that is over is of no more use. */
const rarely = fc.nat(5).map((of) => of === 0);
const challengeId = fc.constantFrom("c1", "c1", "c2", "c3", "c4");

/** What leads somewhere more often than what ends it. */
const commands = fc.commands(
  [
    fc.boolean().map((interactive) => command(`create ${interactive}`, create(interactive))),
    fc.constant(command("create true", create(true))),
    ...[1, 2, 3].map(() => agentIndex.map((agent) => command(`claimNext ${agent}`, claimNext(agent)))),
    fc.tuple(agentIndex, index).map((of) => command(`claimOne ${of}`, claimOne(...of))),
    fc.tuple(agentIndex, index).map((of) => command(`claimOne ${of}`, claimOne(...of))),
    fc
      .tuple(agentIndex, fc.constantFrom(1, 2, 3))
      .map((of) => command(`claimSeveral ${of}`, claimSeveral(...of))),
    fc.tuple(agentIndex, fc.nat(8)).map((of) => command(`signSeveral ${of}`, signSeveral(...of))),
    fc.tuple(index, lease, fc.boolean()).map((of) => command(`sign ${of}`, sign(...of))),
    ...[1, 2, 3].map(() =>
      fc.tuple(index, lease, challengeId).map((of) => command(`challenge ${of}`, challenge(...of))),
    ),
    ...[1, 2].map(() => fc.tuple(index, challengeId).map((of) => command(`respond ${of}`, respond(...of)))),
    fc
      .tuple(index, lease, rarely)
      .map(([of, by, no]) => command(`reject ${of},${by},${!no}`, reject(of, by, !no))),
    fc.tuple(index, rarely).map(([of, yes]) => command(`cancel ${of},${yes}`, yes ? cancel(of) : compare)),
    fc.tuple(index).map((of) => command(`release ${of}`, release(...of))),
    agentIndex.map((agent) => command(`renew ${agent}`, renew(agent))),
    agentIndex.map((agent) => command(`renew ${agent}`, renew(agent))),
    ...[1, 2].map(() =>
      fc
        .constantFrom(1, 14, 20, 29, 30, 31, 45, 60, 119, 121)
        .map((of) => command(`advance ${of}`, advance(of))),
    ),
    fc.constant(command("compare", compare)),
  ],
  { maxCommands: 80, size: "max" },
);

forEachDatabase(({ name, fresh }) => {
  const runs = RUNS[name];
  let clock: FakeClock;
  let harness: SigningHarness;
  before(async () => {
    // Whole seconds, as the model counts.
    clock = fakeClock(Math.floor(Date.now() / SECOND) * SECOND);
    harness = await openSigningHarness({ databaseUrl: await fresh(), clock });
  });
  after(() => harness.close());

  const setup = async () => {
    const pool = await harness.addPool();
    const agents: SoftAgent[] = [];
    for (let count = 0; count < AGENTS; count++) agents.push(await harness.addAgent({ pool }));
    const model: SigningModel = { now: clock() / SECOND, requests: [] };
    const maps = { tokens: new Map(), released: new Map(), seqs: new Map() };
    return { model, real: { harness, clock, poolId: pool.id, agents, ...maps } };
  };

  test("any sequence of steps leaves every request in the state of the model", async () => {
    await fc.assert(
      fc.asyncProperty(commands, async (some) => {
        const { model, real } = await setup();
        await fc.asyncModelRun(() => ({ model, real }), some);
        await compare(model, real);
      }),
      { numRuns: runs, endOnFailure: true },
    );
  });
});
