/** The agent against a service on loopback that may be friendly, away, or hostile. */
import assert from "node:assert/strict";
import { createPublicKey } from "node:crypto";
import { describe, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { checkAgentSignature } from "@signet/protocol/agent-signature";
import { handleRequest } from "./handle-request.ts";
import { heldRequests } from "./held-requests.ts";
import type { AgentKey } from "./keys/key-source.ts";
import { type ClaimAnswer, type SigningService, signingService } from "./service/signing-service.ts";
import { sovereignAddress } from "./sovereign-address.ts";
import { agentStage, withChallenge } from "./testing/agent-stage.ts";
import { ORGANISATION } from "./testing/fake-service.ts";
import { type Changes, POLICY, sampleRequest } from "./testing/sample-request.ts";

describe("the agent", () => {
  const stage = agentStage();
  const { start, stop, ask, journalLines, logged } = stage;

  test("signs exactly the bytes that it was sent, and writes down what it signed before it hands it in", async () => {
    start();
    const request = sampleRequest(stage.key, Date.now());
    const ended = await stage.fake.enqueue(request);
    assert.ok(ended.outcome === "signed", JSON.stringify(ended));
    const publicKey = createPublicKey({ key: stage.key.publicJwk as object, format: "jwk" });
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
    assert.equal(stage.fake.calls.filter(({ path }) => path === "agent/sign").length, 0);
    const [line] = await journalLines();
    assert.deepEqual([line?.["event"], line?.["check"]], ["refused", "aud"]);
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
      stage.fake.override = ({ path }) => {
        if (path !== "agent/sign" || !isFirst) return undefined;
        isFirst = false;
        const { tokens } = sampleRequest(stage.key, Date.now(), changes);
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
    stage.fake.override = ({ path }) => {
      if (path !== "agent/sign" || failures === 2) return undefined;
      failures += 1;
      return { status: 503 };
    };
    start();
    assert.equal((await ask()).outcome, "signed");
    const sent = stage.fake.calls
      .filter(({ path }) => path === "agent/sign")
      .map(({ body }) => JSON.stringify(body));
    assert.deepEqual([sent.length, new Set(sent).size], [3, 1]);
  });

  test("waits longer and longer while the service is away, and then goes on", async () => {
    let isAway = true;
    stage.fake.override = () => (isAway ? { status: 503 } : undefined);
    start();
    while (stage.fake.calls.length === 0) await delay(5);
    await delay(300);
    assert.ok(stage.fake.calls.length <= 24, `${stage.fake.calls.length} calls`);
    isAway = false;
    assert.equal((await ask()).outcome, "signed");
  });

  test("takes no answer that is not of the form that was agreed", async () => {
    stage.fake.override = ({ path }) =>
      path === "agent/claim" ? { status: 200, body: { requestId: "../x", tokens: [] } } : undefined;
    start();
    while (!logged.some((line) => line.includes("cannot be used"))) await delay(5);
    await stop();
    assert.equal(stage.fake.calls.filter(({ path }) => path !== "agent/claim").length, 0);
    // Whatever it wrote there would fill journal and log.
    const endless = sampleRequest(stage.key, Date.now(), { context: { clientId: "x".repeat(100_000) } });
    stage.fake.override = ({ path }) =>
      path === "agent/claim" ? { status: 200, body: { ...endless, leaseToken: "l", attempt: 1 } } : undefined;
    logged.length = 0;
    start();
    while (!logged.some((line) => line.includes("cannot be used"))) await delay(5);
    assert.equal(stage.journal.position.seq, 0);
  });

  test("waits with all its claims while its keys are not active, and says so once", async () => {
    stage.fake.override = ({ path }) =>
      path === "agent/claim" ? { status: 422, body: { error: "no_usable_key" } } : undefined;
    start();
    while (!logged.some((line) => line.includes("is active yet"))) await delay(5);
    await delay(100);
    assert.equal(logged.filter((line) => line.includes("is active yet")).length, 1);
    assert.ok(stage.fake.calls.length <= 8, `${stage.fake.calls.length} calls`);
  });

  test("holds as many requests as the policy's concurrency", async () => {
    let open = 0;
    let most = 0;
    const { promise: three, resolve: areThree } = Promise.withResolvers<void>();
    const slow: AgentKey = {
      ...stage.key,
      sign: async (input) => {
        open += 1;
        most = Math.max(most, open);
        if (open === 3) areThree();
        await three;
        await delay(20);
        open -= 1;
        return stage.key.sign(input);
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
    start(POLICY, { keys: [{ ...stage.key, sign: () => Promise.reject(new Error("CKR_DEVICE_REMOVED")) }] });
    const ended = await ask();
    assert.ok(ended.outcome === "rejected");
    assert.deepEqual([ended.reason, ended.retryable], ["key_unavailable", true]);
  });

  test("what cannot be written down is not handed out", async () => {
    start(POLICY, {
      journal: {
        ...stage.journal,
        position: stage.journal.position,
        append: () => Promise.reject(new Error("ENOSPC")),
      },
    });
    for (let index = 0; index < 20; index += 1) void ask();
    const count = (name: string) => stage.fake.calls.filter(({ path }) => path === name).length;
    while (count("agent/reject") === 0) await delay(5);
    await delay(100);
    assert.equal(count("agent/sign"), 0);
    // Those that it had room for: the others wait for an agent that can, or for this one's disk.
    assert.ok(count("agent/reject") < 20, `${count("agent/reject")}`);
  });

  test("when it stops it claims nothing more, finishes what it can, and hands the rest back", async () => {
    start(withChallenge("confirm"));
    const waiting = ask();
    while (!stage.fake.calls.some(({ path }) => path === "agent/challenge")) await delay(5);
    const began = performance.now();
    await stage.agent?.stop(100);
    const ended = await waiting;
    assert.ok(ended.outcome === "rejected");
    assert.deepEqual([ended.reason, ended.retryable], ["key_unavailable", true]);
    assert.ok(performance.now() - began < 15_000, "and not when the user's time is over");
    const claims = () => stage.fake.calls.filter(({ path }) => path === "agent/claim").length;
    const before = claims();
    void ask();
    await delay(50);
    assert.equal(claims(), before);
  });

  test("what it was given at the moment of its stop is handed back, or finished, before it ends", async () => {
    const given = sampleRequest(stage.key, Date.now());
    const lease = { leaseToken: "l", attempt: 1 };
    let give = () => {};
    const address = sovereignAddress({ service: stage.fake.address, organisation: ORGANISATION });
    const claimed = new Promise<ClaimAnswer>((resolve) => {
      give = () => resolve({ outcome: "claimed", request: { ...given, ...lease } });
    });
    let isFirst = true;
    const claim: SigningService["claim"] = async () => {
      if (!isFirst) return { outcome: "nothing" };
      isFirst = false;
      return await claimed;
    };
    start(POLICY, { service: { ...signingService(stage.connections, address, stage.fake.apiKey), claim } });
    const stopped = stage.agent?.stop(1_000);
    give();
    await stopped;
    const told = stage.fake.calls.filter(({ body }) => body["requestId"] === given.requestId);
    assert.equal(told.length, 1, JSON.stringify(stage.fake.calls));
  });

  test("ends in time though the service does not answer", async () => {
    start(withChallenge("confirm"));
    stage.fake.override = ({ path }) => (path === "agent/queue" ? new Promise(() => {}) : undefined);
    void ask();
    while (!stage.fake.calls.some(({ path }) => path === "agent/queue")) await delay(5);
    const began = performance.now();
    await stage.agent?.stop(0);
    const took = performance.now() - began;
    assert.ok(took < 15_000, `${took} ms`);
  });

  test("signs nothing with a lease that is over", async () => {
    let signatures = 0;
    const sign = (input: string) => {
      signatures += 1;
      return stage.key.sign(input);
    };
    const counted = { ...stage.key, sign };
    start(POLICY, { keys: [counted] });
    const held = heldRequests();
    const request = { ...sampleRequest(stage.key, Date.now()), leaseToken: "l", attempt: 1 };
    const one = held.hold(request.requestId);
    held.deliver({ responses: [], lost: [request.requestId] });
    assert.equal(await handleRequest(request, one, stage.parts), "lost");
    assert.deepEqual([signatures, stage.journal.position.seq], [0, 0]);
  });

  test("no claim, key or token stands in the log", async () => {
    start();
    await ask();
    await ask({ access: { aud: "payments" } });
    const text = logged.join("\n");
    for (const secret of [stage.fake.apiKey, "uma@example"]) assert.ok(!text.includes(secret));
  });
});
