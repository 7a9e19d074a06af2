/** The agent against a service on loopback that may be friendly, away, or hostile. */
import assert from "node:assert/strict";
import { createPublicKey } from "node:crypto";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, afterEach, before, beforeEach, describe, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { checkAgentSignature } from "@signet/protocol/agent-signature";
import { type RunningAgent, startAgent } from "./agent.ts";
import { approvals } from "./challenges/approvals.ts";
import type { Question, Reply } from "./challenges/channel.ts";
import { handleRequest, type RequestParts } from "./handle-request.ts";
import { heldRequests } from "./held-requests.ts";
import { type Journal, openJournal } from "./journal/journal.ts";
import { type AgentKey, agentKey } from "./keys/key-source.ts";
import { generatePrivateKey, memoryKey } from "./keys/pem-key.ts";
import { createMetrics } from "./metrics.ts";
import { parsePolicy } from "./policy/policy.ts";
import { rateLimits } from "./policy/rate-limits.ts";
import { seenTokenIds } from "./policy/seen-token-ids.ts";
import { type Connections, openConnections } from "./service/json-call.ts";
import { type ClaimAnswer, type SigningService, signingService } from "./service/signing-service.ts";
import { sovereignAddress } from "./sovereign-address.ts";
import { type FakeService, ORGANISATION, startFakeService } from "./testing/fake-service.ts";
import { type Changes, POLICY, sampleRequest } from "./testing/sample-request.ts";

const withChallenge = (type: string) =>
  POLICY.replace("grants:", `challenge: { type: ${type}, when: authorization_code }\n    grants:`);

describe("the agent", () => {
  let folder: string;
  let key: AgentKey;
  let fake: FakeService;
  let connections: Connections;
  let journal: Journal;
  let journalFile: string;
  let agent: RunningAgent | undefined;
  let parts: RequestParts;
  let count = 0;
  const logged: string[] = [];

  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "signet-agent-"));
    key = agentKey(memoryKey(await generatePrivateKey("ES256"), "ES256"), "test");
  });
  after(() => rm(folder, { recursive: true }));
  beforeEach(async () => {
    fake = await startFakeService();
    connections = openConnections();
    count += 1;
    logged.length = 0;
    journalFile = path.join(folder, `journal-${count}`);
    journal = await openJournal(journalFile, Date.now);
  });
  afterEach(async () => {
    await agent?.stop(0);
    agent = undefined;
    connections.close();
    await journal.close();
    await fake.close();
  });

  function start(policyText = POLICY, change: Partial<RequestParts> = {}): void {
    const address = sovereignAddress({ service: fake.address, organisation: ORGANISATION });
    const policy = parsePolicy(policyText);
    parts = {
      service: signingService(connections, address, fake.apiKey),
      keys: [key],
      policy: () => policy,
      limits: rateLimits(Date.now),
      seen: seenTokenIds(Date.now),
      approvals: approvals(Date.now),
      journal,
      metrics: createMetrics(),
      log: (level, message, fields) => logged.push(JSON.stringify({ level, message, ...fields })),
      clock: Date.now,
      channel: undefined,
      passkeys: undefined,
      ...change,
    };
    agent = startAgent(parts);
  }
  /** Until the service has seen that the agent is gone, so that it gives it nothing more. */
  async function stop(): Promise<void> {
    await agent?.stop(0);
    while (fake.waiting() > 0) await delay(5);
  }
  const ask = (changes: Changes = {}) => fake.enqueue(sampleRequest(key, Date.now(), changes));
  const journalLines = async () =>
    (await readFile(journalFile, "utf8"))
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));

  test("signs exactly the bytes that it was sent, and writes down what it signed before it hands it in", async () => {
    start();
    const request = sampleRequest(key, Date.now());
    const ended = await fake.enqueue(request);
    assert.ok(ended.outcome === "signed", JSON.stringify(ended));
    const publicKey = createPublicKey({ key: key.publicJwk as object, format: "jwk" });
    const jwts = [ended.jwts.access_token, ended.jwts.id_token ?? ""];
    for (const [index, jwt] of jwts.entries()) {
      const [head = "", body = "", signature = ""] = jwt.split(".");
      const sent = request.tokens[index];
      assert.deepEqual([head, body], [sent?.protected, sent?.payload]);
      assert.equal(checkAgentSignature({ publicKey, alg: "ES256" }, `${head}.${body}`, signature), "good");
    }
    const lines = await journalLines();
    assert.deepEqual(
      lines.map(({ event, use }) => [event, use]),
      [
        ["signed", "access_token"],
        ["signed", "id_token"],
      ],
    );
  });

  test("signs nothing that the policy does not allow, says why, and writes it down", async () => {
    start();
    const ended = await ask({ access: { aud: "payments" } });
    assert.ok(ended.outcome === "rejected");
    assert.deepEqual([ended.reason, ended.retryable], ["policy_denied", false]);
    assert.match(ended.detail, /audience "payments"/);
    assert.equal(fake.calls.filter(({ path }) => path === "agent/sign").length, 0);
    const [line] = await journalLines();
    assert.deepEqual([line.event, line.check], ["refused", "aud"]);
  });

  test("never signs one jti twice, whatever else the service sends with it", async () => {
    start();
    const jti = "the-same";
    assert.equal((await ask({ access: { jti } })).outcome, "signed");
    const ended = await ask({ access: { jti, aud: "api" } });
    assert.ok(ended.outcome === "rejected");
    assert.match(ended.detail, /jti/);
  });

  test("stops at the limit of a user", async () => {
    start(POLICY.replace("perSubjectPerMin: 10", "perSubjectPerMin: 3"));
    const outcomes = [];
    for (let index = 0; index < 5; index += 1) outcomes.push((await ask()).outcome);
    assert.deepEqual(outcomes, ["signed", "signed", "signed", "rejected", "rejected"]);
  });

  test("a clock that is off is no reason that another agent may not sign", async () => {
    start(POLICY, { clock: () => Date.now() + 120_000 });
    const ended = await ask();
    assert.ok(ended.outcome === "rejected" && ended.retryable);
    assert.match(ended.detail, /off this machine's clock/);
  });

  describe("tokens rendered anew", () => {
    function renderAnew(changes: Changes): void {
      let isFirst = true;
      fake.override = ({ path }) => {
        if (path !== "agent/sign" || !isFirst) return undefined;
        isFirst = false;
        const { tokens } = sampleRequest(key, Date.now(), changes);
        return { status: 409, body: { error: "stale_payload", tokens } };
      };
    }
    const times = () => ({ auth_time: Math.floor(Date.now() / 1000) - 100 });

    test("are signed when nothing but iat, exp and jti is new", async () => {
      const same = times();
      renderAnew({ access: same, id: same });
      start();
      assert.equal((await ask({ access: same, id: same })).outcome, "signed");
    });

    test("are refused when they say something else, even if the policy allows it", async () => {
      const same = times();
      renderAnew({ access: { ...same, aud: "api" }, id: same });
      start();
      const ended = await ask({ access: same, id: same });
      assert.ok(ended.outcome === "rejected");
      assert.match(ended.detail, /rendered anew/);
    });
  });

  test("hands in the same signature again when no answer came", async () => {
    let failures = 0;
    fake.override = ({ path }) => {
      if (path !== "agent/sign" || failures === 2) return undefined;
      failures += 1;
      return { status: 503 };
    };
    start();
    assert.equal((await ask()).outcome, "signed");
    const sent = fake.calls
      .filter(({ path }) => path === "agent/sign")
      .map(({ body }) => JSON.stringify(body));
    assert.deepEqual([sent.length, new Set(sent).size], [3, 1]);
  });

  test("waits longer and longer while the service is away, and then goes on", async () => {
    let isAway = true;
    fake.override = () => (isAway ? { status: 503 } : undefined);
    start();
    await delay(700);
    assert.ok(fake.calls.length < 12, `${fake.calls.length} calls`);
    isAway = false;
    assert.equal((await ask()).outcome, "signed");
  });

  test("takes no answer that is not of the form that was agreed", async () => {
    fake.override = ({ path }) =>
      path === "agent/claim" ? { status: 200, body: { requestId: "../x", tokens: [] } } : undefined;
    start();
    await delay(50);
    assert.equal(fake.calls.filter(({ path }) => path !== "agent/claim").length, 0);
    assert.match(logged.join(), /cannot be used/);
    await stop();
    // Whatever it wrote there would fill journal and log.
    const endless = sampleRequest(key, Date.now(), { context: { clientId: "x".repeat(100_000) } });
    fake.override = ({ path }) =>
      path === "agent/claim" ? { status: 200, body: { ...endless, leaseToken: "l", attempt: 1 } } : undefined;
    start();
    await delay(50);
    assert.equal(fake.calls.filter(({ path }) => path === "agent/reject").length, 0);
    assert.equal(journal.position.seq, 0);
  });

  test("waits with all its claims while its keys are not active, and says so once", async () => {
    fake.override = ({ path }) =>
      path === "agent/claim" ? { status: 422, body: { error: "no_usable_key" } } : undefined;
    start();
    await delay(100);
    assert.equal(logged.filter((line) => line.includes("is active yet")).length, 1);
    assert.ok(fake.calls.length <= 4, `${fake.calls.length} calls`);
  });

  test("holds as many requests as the policy's concurrency", async () => {
    let open = 0;
    let most = 0;
    const slow: AgentKey = {
      ...key,
      sign: async (input) => {
        open += 1;
        most = Math.max(most, open);
        await delay(20);
        open -= 1;
        return key.sign(input);
      },
    };
    start(
      POLICY.replace("concurrency: 16", "concurrency: 3").replace(
        "perSubjectPerMin: 10",
        "perSubjectPerMin: 99",
      ),
      {
        keys: [slow],
      },
    );
    await Promise.all(Array.from({ length: 12 }, () => ask({ withoutIdToken: true })));
    assert.equal(most, 3);
  });

  test("a key that cannot be used leaves the request to another agent", async () => {
    start(POLICY, { keys: [{ ...key, sign: () => Promise.reject(new Error("CKR_DEVICE_REMOVED")) }] });
    const ended = await ask();
    assert.ok(ended.outcome === "rejected");
    assert.deepEqual([ended.reason, ended.retryable], ["key_unavailable", true]);
  });

  test("what cannot be written down is not handed out", async () => {
    start(POLICY, {
      journal: { ...journal, position: journal.position, append: () => Promise.reject(new Error("ENOSPC")) },
    });
    const ended = await ask();
    assert.ok(ended.outcome === "rejected");
    assert.equal(fake.calls.filter(({ path }) => path === "agent/sign").length, 0);
  });

  describe("challenges", () => {
    const displayOf = () => fake.calls.find(({ path }) => path === "agent/challenge")?.body;
    /** A user who reads the number on the page and types it, or something else. */
    const user = (type: (shown: string) => Reply) => ({
      ask: async (question: Question) => {
        assert.equal(question.code, undefined);
        return type(String(displayOf()?.["display"]));
      },
    });

    test("number_match: signs when the number came through the agent's own channel", async () => {
      start(withChallenge("number_match"), { channel: user((answer) => ({ outcome: "answered", answer })) });
      assert.equal((await ask()).outcome, "signed");
      assert.equal((await journalLines())[0].challenge, "number_match");
    });

    test("number_match: what the service says of it counts for nothing", async () => {
      start(withChallenge("number_match"), {
        channel: { ask: () => new Promise(() => {}) },
      });
      const request = sampleRequest(key, Date.now());
      const ended = fake.enqueue(request);
      while (!displayOf()) await delay(5);
      fake.answer(request.requestId, String(displayOf()?.["challengeId"]), displayOf()?.["display"]);
      const first = await Promise.race([ended, delay(300, "still waiting")]);
      assert.equal(first, "still waiting");
    });

    test("an answer that is known is not asked for again: the next poll waits for others", async () => {
      start(withChallenge("number_match"), { channel: { ask: () => new Promise(() => {}) } });
      const request = sampleRequest(key, Date.now());
      void fake.enqueue(request);
      while (!displayOf()) await delay(5);
      const challengeId = String(displayOf()?.["challengeId"]);
      fake.answer(request.requestId, challengeId, true);
      const knowing = () => fake.calls.filter(({ query }) => query.get("known") === challengeId);
      while (knowing().length === 0) await delay(20);
      // As many as there were a second apart before: this one is held.
      await delay(1_200);
      assert.equal(knowing().length, 1);
    });

    test("no more users are kept waiting than 64 for each request that may be signed at once", async () => {
      const limits = "perSubjectPerMin: 1000, concurrency: 1";
      start(withChallenge("confirm").replace("perSubjectPerMin: 10, concurrency: 16", limits));
      for (let index = 0; index < 66; index += 1) void ask();
      const asked = () => fake.calls.filter(({ path }) => path === "agent/challenge").length;
      while (asked() < 64) await delay(20);
      await delay(100);
      assert.equal(asked(), 64);
    });

    test("number_match: one wrong number, and the user's no, are the end", async () => {
      start(withChallenge("number_match"), { channel: user(() => ({ outcome: "answered", answer: "7" })) });
      const wrong = await ask();
      assert.ok(wrong.outcome === "rejected" && wrong.reason === "challenge_failed");
      await stop();
      start(withChallenge("number_match"), { channel: user(() => ({ outcome: "denied" })) });
      const no = await ask();
      assert.ok(no.outcome === "rejected" && no.reason === "user_denied");
    });

    test("pin: the code that was sent must come back from the page; a mistyped one may be tried again", async () => {
      const request = sampleRequest(key, Date.now());
      let asked = 0;
      const channel = {
        ask: async ({ code, challengeId }: Question): Promise<Reply> => {
          asked += 1;
          fake.answer(
            request.requestId,
            challengeId,
            asked === 1 ? "000000x" : `${code?.slice(0, 3)} ${code?.slice(3)}`,
          );
          return { outcome: "delivered" };
        },
      };
      start(withChallenge("pin"), { channel });
      assert.equal((await fake.enqueue(request)).outcome, "signed");
      assert.equal(asked, 2);
      for (const { body } of fake.calls.filter(({ path }) => path === "agent/challenge"))
        assert.ok(!/\d{6}/.test(`${body["prompt"]}${body["display"] ?? ""}`));
    });

    test("confirm: nothing but the page's own word is a yes", async () => {
      for (const [answer, outcome] of [
        ["confirmed", "signed"],
        ["yes", "rejected"],
      ] as const) {
        start(withChallenge("confirm"));
        const request = sampleRequest(key, Date.now());
        fake.override = ({ path, body }) => {
          if (path === "agent/challenge") fake.answer(request.requestId, String(body["challengeId"]), answer);
          return undefined;
        };
        assert.equal((await fake.enqueue(request)).outcome, outcome);
        await stop();
      }
    });

    test("without a browser nobody can be asked: the user has to step up", async () => {
      start(withChallenge("confirm"));
      const ended = await ask({ interactive: false });
      assert.ok(ended.outcome === "rejected" && ended.reason === "step_up_required");
      assert.equal(displayOf(), undefined);
    });

    test("tokens in the place of others, for the same user and client, need no second challenge", async () => {
      start(withChallenge("number_match"), { channel: user((answer) => ({ outcome: "answered", answer })) });
      const first = sampleRequest(key, Date.now());
      await fake.enqueue(first);
      const again = { interactive: false, context: { parentRequestId: first.requestId } };
      assert.equal((await ask(again)).outcome, "signed");
      const sub = "66666666-6666-4666-8666-666666666666";
      const other = { ...again, access: { sub }, id: { sub }, context: { ...again.context, sub } };
      assert.equal((await ask(other)).outcome, "rejected");
      const passed = (await journalLines()).map(({ challenge, passedIn }) => [challenge, passedIn]);
      assert.deepEqual(passed[0], ["number_match", undefined]);
      assert.deepEqual(passed[2], ["number_match", first.requestId]);
    });

    test("a lost lease ends the waiting, and nothing is signed", async () => {
      start(withChallenge("confirm"));
      const request = sampleRequest(key, Date.now());
      void fake.enqueue(request);
      while (!displayOf()) await delay(5);
      fake.lose(request.requestId);
      while (!logged.some((line) => line.includes("lease lost"))) await delay(5);
      assert.equal(fake.calls.filter(({ path }) => path === "agent/sign").length, 0);
    });
  });

  test("when it stops it claims nothing more, finishes what it can, and hands the rest back", async () => {
    start(withChallenge("confirm"));
    const waiting = ask();
    while (!fake.calls.some(({ path }) => path === "agent/challenge")) await delay(5);
    const began = performance.now();
    await agent?.stop(100);
    const ended = await waiting;
    assert.ok(ended.outcome === "rejected");
    assert.deepEqual([ended.reason, ended.retryable], ["key_unavailable", true]);
    assert.ok(performance.now() - began < 2_500);
    const claims = () => fake.calls.filter(({ path }) => path === "agent/claim").length;
    const before = claims();
    void ask();
    await delay(50);
    assert.equal(claims(), before);
  });

  test("what it was given at the moment of its stop is handed back, or finished, before it ends", async () => {
    const given = sampleRequest(key, Date.now());
    const lease = { leaseToken: "l", attempt: 1 };
    let give = () => {};
    const address = sovereignAddress({ service: fake.address, organisation: ORGANISATION });
    const claimed = new Promise<ClaimAnswer>((resolve) => {
      give = () => resolve({ outcome: "claimed", request: { ...given, ...lease } });
    });
    let isFirst = true;
    const claim: SigningService["claim"] = async () => {
      if (!isFirst) return { outcome: "nothing" };
      isFirst = false;
      return await claimed;
    };
    start(POLICY, { service: { ...signingService(connections, address, fake.apiKey), claim } });
    const stopped = agent?.stop(1_000);
    give();
    await stopped;
    const told = fake.calls.filter(({ body }) => body["requestId"] === given.requestId);
    assert.equal(told.length, 1, JSON.stringify(fake.calls));
  });

  test("ends in time though the service does not answer", async () => {
    start(withChallenge("confirm"));
    fake.override = ({ path }) =>
      path === "agent/queue" || path === "agent/reject" ? new Promise(() => {}) : undefined;
    void ask();
    while (!fake.calls.some(({ path }) => path === "agent/queue")) await delay(5);
    const began = performance.now();
    await agent?.stop(0);
    // It waited as long as it does for the refusal, and not for the poll as well.
    const took = performance.now() - began;
    assert.ok(took < 4_500, `${took} ms`);
  });

  test("signs nothing with a lease that is over", async () => {
    let signatures = 0;
    const counted = { ...key, sign: (input: string) => (signatures++, key.sign(input)) };
    start(POLICY, { keys: [counted] });
    const held = heldRequests();
    const request = { ...sampleRequest(key, Date.now()), leaseToken: "l", attempt: 1 };
    const one = held.hold(request.requestId);
    held.deliver({ responses: [], lost: [request.requestId] });
    assert.equal(await handleRequest(request, one, parts), "lost");
    assert.deepEqual([signatures, journal.position.seq], [0, 0]);
  });

  test("no claim, key or token stands in the log", async () => {
    start();
    await ask();
    await ask({ access: { aud: "payments" } });
    const text = logged.join("\n");
    for (const secret of [fake.apiKey, "uma@example"]) assert.ok(!text.includes(secret));
  });
});
