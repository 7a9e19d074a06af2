/** Several requests at once: with a service that knows them, with one that does not, and when something goes wrong in between. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { eventually } from "@signet/server/testing/eventually";
import type { AgentKey } from "../keys/key-source.ts";
import { agentHarness, withChallenge } from "../testing/agent-harness.ts";
import { POLICY, sampleRequest } from "../testing/sample-request.ts";

const MANY = POLICY.replace("perSubjectPerMin: 10", "perSubjectPerMin: 1000");

describe("the agent with several requests at once", () => {
  const harness = agentHarness();
  const { start, requestTokens, journalLines } = harness;
  const callsOf = (path: string) => harness.fake.calls.filter((call) => call.path === path);
  const signaturesOf = ({ body }: { body: Record<string, unknown> }) =>
    (body["signatures"] ?? []) as Array<{ requestId: string }>;
  const request = (count: number) => Promise.all(Array.from({ length: count }, () => requestTokens()));

  test("claims, journal and signatures go together, and the next requests come with the answer", async () => {
    harness.fake.inBatches = true;
    const writes: number[] = [];
    const { journal } = harness;
    const append: typeof journal.append = (records) => {
      writes.push(records.length);
      return journal.append(records);
    };
    const all = request(40);
    start(MANY, { journal: { ...journal, position: journal.position, append } });
    assert.deepEqual([...new Set((await all).map(({ outcome }) => outcome))], ["signed"]);
    const [first] = callsOf("agent/claim");
    assert.equal(first?.query.get("max"), "16");
    const sizes = callsOf("agent/sign").map((call) => signaturesOf(call).length);
    assert.equal(
      sizes.reduce((sum, size) => sum + size, 0),
      40,
    );
    // On a busy machine one may come late.
    assert.ok(sizes.length <= 8 && sizes.every((size) => size <= 16), JSON.stringify(sizes));
    assert.equal((await journalLines()).length, 80);
    assert.equal(writes.length, 40);
    // Only the first requests were claimed by a call of their own, and one waits for those that come.
    await eventually("a claim waits", () => callsOf("agent/claim").length === 2);
  });

  test("an older service gets one signature at a time", async () => {
    const all = request(20);
    start(MANY);
    assert.deepEqual([...new Set((await all).map(({ outcome }) => outcome))], ["signed"]);
    assert.equal(callsOf("agent/sign").length, 20);
    assert.deepEqual(callsOf("agent/sign").flatMap(signaturesOf), []);
  });

  test("a node that takes signatures one by one only gets them so, without an entry more in the journal", async () => {
    harness.fake.inBatches = true;
    harness.fake.override = ({ path, body }) => {
      if (path !== "agent/sign" || !("signatures" in body)) return undefined;
      harness.fake.inBatches = false;
      return { status: 400, body: { error: "invalid_request" } };
    };
    const all = request(5);
    start(MANY);
    assert.deepEqual([...new Set((await all).map(({ outcome }) => outcome))], ["signed"]);
    assert.equal(callsOf("agent/sign").length, 1 + 5);
    assert.equal((await journalLines()).length, 10);
  });

  test("each request of a batch ends by its own answer", async () => {
    harness.fake.inBatches = true;
    const [lost, bad] = [sampleRequest(harness.key, Date.now()), sampleRequest(harness.key, Date.now())];
    harness.fake.override = ({ path, body }) => {
      if (path !== "agent/sign") return undefined;
      const results = signaturesOf({ body }).map(({ requestId }) => {
        if (requestId === lost.requestId) return { requestId, error: "lease_lost", error_description: "" };
        if (requestId === bad.requestId)
          return { requestId, error: "invalid_signed_jwt", reason: "bad_signature" };
        return { requestId, status: "signed" };
      });
      return { status: 200, body: { results, requests: [] } };
    };
    for (const one of [lost, bad]) void harness.fake.enqueue(one);
    void requestTokens();
    start(MANY);
    await eventually("both are logged", () =>
      [lost, bad].every(({ requestId }) =>
        harness.logged.some((line) => line.includes(requestId) && line.includes("rejected the tokens")),
      ),
    );
    assert.equal(callsOf("agent/sign").length, 1);
  });

  test("a lost answer: the same signatures are sent again, and recorded once", async () => {
    harness.fake.inBatches = true;
    let losses = 0;
    harness.fake.override = ({ path }) =>
      path === "agent/sign" && ++losses === 1 ? { status: 503 } : undefined;
    const all = request(3);
    start(MANY);
    assert.deepEqual([...new Set((await all).map(({ outcome }) => outcome))], ["signed"]);
    const sent = callsOf("agent/sign").flatMap(({ body }) => (body["signatures"] ?? []) as object[]);
    assert.equal(new Set(sent.map((one) => JSON.stringify(one))).size, 3);
    assert.equal((await journalLines()).length, 6);
  });

  test("results that do not match their signatures are believed for none", async () => {
    harness.fake.inBatches = true;
    let answers = 0;
    harness.fake.override = ({ path, body }) => {
      if (path !== "agent/sign" || ++answers > 1) return undefined;
      const results = signaturesOf({ body }).map(({ requestId }) => ({ requestId, status: "signed" }));
      return { status: 200, body: { results: results.toReversed(), requests: [] } };
    };
    for (let index = 0; index < 2; index += 1) void requestTokens();
    start(MANY);
    const failures = () => harness.logged.filter((line) => line.includes("request failed")).length;
    await eventually("both have failed", () => failures() === 2);
  });

  test("one that waits for its user or for a slow key keeps no other waiting", async () => {
    harness.fake.inBatches = true;
    const slow = sampleRequest(harness.key, Date.now(), { withoutIdToken: true });
    const [token] = slow.tokens;
    const { promise: let_go, resolve: letGo } = Promise.withResolvers<void>();
    const key: AgentKey = {
      ...harness.key,
      sign: async (input) => {
        if (input === `${token?.protected}.${token?.payload}`) await let_go;
        return harness.key.sign(input);
      },
    };
    const asked = requestTokens();
    const held = harness.fake.enqueue({ ...slow, context: { ...slow.context, grantType: "refresh_token" } });
    const others = Array.from({ length: 4 }, () =>
      requestTokens({ withoutIdToken: true, context: { grantType: "refresh_token" } }),
    );
    start(withChallenge("confirm").replace("perSubjectPerMin: 10", "perSubjectPerMin: 1000"), {
      keys: [key],
    });
    assert.deepEqual([...new Set((await Promise.all(others)).map(({ outcome }) => outcome))], ["signed"]);
    const later = requestTokens({ withoutIdToken: true, context: { grantType: "refresh_token" } });
    assert.equal((await later).outcome, "signed");
    letGo();
    assert.equal((await held).outcome, "signed");
    await harness.agent?.stop(0);
    assert.equal((await asked).outcome, "rejected");
  });

  test("takes no more at once than the policy's concurrency", async () => {
    harness.fake.inBatches = true;
    const all = request(7);
    start(MANY.replace("concurrency: 16", "concurrency: 3"));
    await all;
    const asked = callsOf("agent/sign").map(
      ({ body }) => (body["claim"] as { max?: number } | undefined)?.max,
    );
    assert.ok(
      asked.every((max) => max === undefined || max <= 3),
      JSON.stringify(asked),
    );
  });

  test("a stopping agent asks for nothing more with its last signatures", async () => {
    harness.fake.inBatches = true;
    const { promise: signed, resolve: letSign } = Promise.withResolvers<void>();
    const key: AgentKey = {
      ...harness.key,
      sign: async (input) => {
        await signed;
        return harness.key.sign(input);
      },
    };
    const last = requestTokens();
    start(MANY, { keys: [key] });
    await eventually("it is claimed", () => callsOf("agent/claim").length > 0);
    const stopped = harness.agent?.stop(5_000);
    letSign();
    assert.equal((await last).outcome, "signed");
    await stopped;
    assert.deepEqual(
      callsOf("agent/sign").map(({ body }) => "claim" in body),
      [false],
    );
  });
});
