/** The agent against a fake service on loopback: friendly, down, or hostile. */
import assert from "node:assert/strict";
import { createPublicKey } from "node:crypto";
import { describe, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { checkAgentSignature } from "@signet/protocol/agent-signature";
import { eventually } from "@signet/server/testing/eventually";
import type { AgentKey } from "../keys/key-source.ts";
import {
  type ClaimAnswer,
  type SigningService,
  signingService,
  sovereignUrl,
} from "../service/signing-service.ts";
import { agentHarness, withChallenge } from "../testing/agent-harness.ts";
import { ORGANISATION } from "../testing/fake-service.ts";
import { type Changes, POLICY, sampleRequest } from "../testing/sample-request.ts";
import { gathering } from "./gathering.ts";
import { handleRequest } from "./handle-request.ts";
import { leasedRequests } from "./leased-requests.ts";

describe("the agent", () => {
  const harness = agentHarness();
  const { start, stop, requestTokens, journalLines, logged } = harness;

  test("signs exactly the bytes it was sent, and records the tokens in the journal", async () => {
    start();
    const request = sampleRequest(harness.key, Date.now());
    const ended = await harness.fake.enqueue(request);
    assert.ok(ended.outcome === "signed", JSON.stringify(ended));
    const publicKey = createPublicKey({ key: harness.key.publicJwk as object, format: "jwk" });
    const jwts = [ended.jwts["access_token"] ?? "", ended.jwts["id_token"] ?? ""];
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

  test("refuses what the policy does not allow, says why, and records the refusal", async () => {
    start();
    const ended = await requestTokens({ access: { aud: "payments" } });
    assert.ok(ended.outcome === "rejected");
    assert.deepEqual([ended.reason, ended.retryable], ["policy_denied", false]);
    assert.match(ended.detail, /audience "payments"/);
    assert.equal(harness.fake.calls.filter(({ path }) => path === "agent/sign").length, 0);
    const [line] = await journalLines();
    assert.deepEqual([line?.["event"], line?.["check"]], ["refused", "aud"]);
  });

  test("never signs the same jti twice", async () => {
    start();
    const jti = "the-same";
    assert.equal((await requestTokens({ access: { jti } })).outcome, "signed");
    const ended = await requestTokens({ access: { jti, aud: "api" } });
    assert.ok(ended.outcome === "rejected");
    assert.match(ended.detail, /jti/);
  });

  test("enforces a user's rate limit", async () => {
    start(POLICY.replace("perSubjectPerMin: 10", "perSubjectPerMin: 3"));
    const outcomes = [];
    for (let index = 0; index < 5; index += 1) outcomes.push((await requestTokens()).outcome);
    assert.deepEqual(outcomes, ["signed", "signed", "signed", "rejected", "rejected"]);
  });

  test("a refusal because of a wrong clock is retryable by another agent", async () => {
    start(POLICY, { clock: () => Date.now() + 120_000 });
    const ended = await requestTokens();
    assert.ok(ended.outcome === "rejected" && ended.retryable);
    assert.match(ended.detail, /from this machine's clock/);
  });

  describe("rerendered tokens", () => {
    function rerender(changes: Changes): void {
      let isFirst = true;
      harness.fake.override = ({ path }) => {
        if (path !== "agent/sign" || !isFirst) return undefined;
        isFirst = false;
        const { tokens } = sampleRequest(harness.key, Date.now(), changes);
        return { status: 409, body: { error: "stale_payload", tokens } };
      };
    }
    const times = () => ({ auth_time: Math.floor(Date.now() / 1000) - 100 });

    test("are signed when only iat, exp and jti changed", async () => {
      const same = times();
      rerender({ access: same, id: same });
      start();
      assert.equal((await requestTokens({ access: same, id: same })).outcome, "signed");
    });

    test("are refused when another claim changed, even if the policy allows it", async () => {
      const same = times();
      rerender({ access: { ...same, aud: "api" }, id: same });
      start();
      const ended = await requestTokens({ access: same, id: same });
      assert.ok(ended.outcome === "rejected");
      assert.match(ended.detail, /rendered again/);
    });
  });

  test("submits the same signature again when no answer came", async () => {
    let failures = 0;
    harness.fake.override = ({ path }) => {
      if (path !== "agent/sign" || failures === 2) return undefined;
      failures += 1;
      return { status: 503 };
    };
    start();
    assert.equal((await requestTokens()).outcome, "signed");
    const sent = harness.fake.calls
      .filter(({ path }) => path === "agent/sign")
      .map(({ body }) => JSON.stringify(body));
    assert.deepEqual([sent.length, new Set(sent).size], [3, 1]);
  });

  test("backs off while the service is down, and recovers", async () => {
    let isAway = true;
    harness.fake.override = () => (isAway ? { status: 503 } : undefined);
    start();
    await eventually("the agent calls the service", () => harness.fake.calls.length > 0);
    await delay(300);
    assert.ok(harness.fake.calls.length <= 24, `${harness.fake.calls.length} calls`);
    isAway = false;
    assert.equal((await requestTokens()).outcome, "signed");
  });

  test("ignores answers that do not match the schema", async () => {
    harness.fake.override = ({ path }) =>
      path === "agent/claim" ? { status: 200, body: { requestId: "../x", tokens: [] } } : undefined;
    start();
    await eventually("a failed claim is logged", () => logged.some((line) => line.includes("cannot claim")));
    await stop();
    assert.equal(harness.fake.calls.filter(({ path }) => path !== "agent/claim").length, 0);
    // Overlong text would fill journal and log.
    const endless = sampleRequest(harness.key, Date.now(), { context: { clientId: "x".repeat(100_000) } });
    harness.fake.override = ({ path }) =>
      path === "agent/claim" ? { status: 200, body: { ...endless, leaseToken: "l", attempt: 1 } } : undefined;
    logged.length = 0;
    start();
    await eventually("a failed claim is logged", () => logged.some((line) => line.includes("cannot claim")));
    assert.equal(harness.journal.position.seq, 0);
  });

  test("pauses all claims while its keys are not active, and logs it once", async () => {
    harness.fake.override = ({ path }) =>
      path === "agent/claim" ? { status: 422, body: { error: "no_usable_key" } } : undefined;
    start();
    await eventually("an inactive key is logged", () =>
      logged.some((line) => line.includes("is active yet")),
    );
    await delay(100);
    assert.equal(logged.filter((line) => line.includes("is active yet")).length, 1);
    assert.ok(harness.fake.calls.length <= 8, `${harness.fake.calls.length} calls`);
  });

  test("signs no more requests at the same time than the policy's concurrency", async () => {
    let open = 0;
    let most = 0;
    const { promise: three, resolve: reachedThree } = Promise.withResolvers<void>();
    const slow: AgentKey = {
      ...harness.key,
      sign: async (input) => {
        open += 1;
        most = Math.max(most, open);
        if (open === 3) reachedThree();
        await three;
        await delay(20);
        open -= 1;
        return harness.key.sign(input);
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
    await Promise.all(Array.from({ length: 12 }, () => requestTokens({ withoutIdToken: true })));
    assert.equal(most, 3);
  });

  test("leaves a request to another agent when its key cannot be used", async () => {
    start(POLICY, {
      keys: [{ ...harness.key, sign: () => Promise.reject(new Error("CKR_DEVICE_REMOVED")) }],
    });
    const ended = await requestTokens();
    assert.ok(ended.outcome === "rejected");
    assert.deepEqual([ended.reason, ended.retryable], ["key_unavailable", true]);
  });

  test("submits no token that the journal could not record", async () => {
    start(POLICY, {
      journal: {
        ...harness.journal,
        position: harness.journal.position,
        append: () => Promise.reject(new Error("ENOSPC")),
      },
    });
    for (let index = 0; index < 20; index += 1) void requestTokens();
    const count = (name: string) => harness.fake.calls.filter(({ path }) => path === name).length;
    await eventually("the agent rejects a request", () => count("agent/reject") > 0);
    await delay(100);
    assert.equal(count("agent/sign"), 0);
    // Only those it had room for: the others wait in the queue.
    assert.ok(count("agent/reject") < 20, `${count("agent/reject")}`);
  });

  test("on stop it claims nothing more, finishes what it can, and hands the rest back", async () => {
    start(withChallenge("confirm"));
    const waiting = requestTokens();
    await eventually("the agent sends a challenge", () =>
      harness.fake.calls.some(({ path }) => path === "agent/challenge"),
    );
    const began = performance.now();
    await harness.agent?.stop(100);
    const ended = await waiting;
    assert.ok(ended.outcome === "rejected");
    assert.deepEqual([ended.reason, ended.retryable], ["key_unavailable", true]);
    assert.ok(performance.now() - began < 15_000, "and not when the user's time is over");
    const claims = () => harness.fake.calls.filter(({ path }) => path === "agent/claim").length;
    const before = claims();
    void requestTokens();
    await delay(50);
    assert.equal(claims(), before);
  });

  test("a request claimed while stopping is finished or handed back", async () => {
    const given = sampleRequest(harness.key, Date.now());
    const lease = { leaseToken: "l", attempt: 1 };
    let give = () => {};
    const address = sovereignUrl({ service: harness.fake.url, organisation: ORGANISATION });
    const claimed = new Promise<ClaimAnswer>((resolve) => {
      give = () => resolve({ outcome: "claimed", requests: [{ ...given, ...lease }], inBatches: false });
    });
    let isFirst = true;
    const claim: SigningService["claim"] = async () => {
      if (!isFirst) return { outcome: "nothing" };
      isFirst = false;
      return await claimed;
    };
    start(POLICY, { service: { ...signingService(harness.client, address, harness.fake.apiKey), claim } });
    const stopped = harness.agent?.stop(1_000);
    give();
    await stopped;
    const reported = harness.fake.calls.filter(({ body }) => body["requestId"] === given.requestId);
    assert.equal(reported.length, 1, JSON.stringify(harness.fake.calls));
  });

  test("stops in time even if the service does not answer", async () => {
    start(withChallenge("confirm"));
    harness.fake.override = ({ path }) => (path === "agent/queue" ? new Promise(() => {}) : undefined);
    void requestTokens();
    await eventually("the agent polls its queue", () =>
      harness.fake.calls.some(({ path }) => path === "agent/queue"),
    );
    const began = performance.now();
    await harness.agent?.stop(0);
    const took = performance.now() - began;
    assert.ok(took < 15_000, `${took} ms`);
  });

  test("signs nothing once the lease is lost", async () => {
    let signatures = 0;
    const sign = (input: string) => {
      signatures += 1;
      return harness.key.sign(input);
    };
    const counted = { ...harness.key, sign };
    start(POLICY, { keys: [counted] });
    const leased = leasedRequests();
    const request = { ...sampleRequest(harness.key, Date.now()), leaseToken: "l", attempt: 1 };
    const one = leased.add(request.requestId);
    leased.applyPoll({ responses: [], lost: [request.requestId] });
    const [member] = gathering(1);
    assert.ok(member);
    const batches = { sign: () => Promise.reject(new Error("a signature left")) };
    const claim = { claimed: request, request: one, member, batches };
    assert.equal(await handleRequest(claim, harness.deps), "lost");
    assert.deepEqual([signatures, harness.journal.position.seq], [0, 0]);
  });

  test("logs no claims and no API key", async () => {
    start();
    await requestTokens();
    await requestTokens({ access: { aud: "payments" } });
    const text = logged.join("\n");
    for (const secret of [harness.fake.apiKey, "uma@example"]) assert.ok(!text.includes(secret));
  });
});
