/** The trace of the request that waits goes on in the agent's calls about it, and whatever else is there for a trace goes nowhere. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { agentHarness, withChallenge } from "../testing/agent-harness.ts";
import { POLICY, sampleRequest } from "../testing/sample-request.ts";

const TRACE = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
const OTHER = "00-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa-00f067aa0ba902b7-01";
const MANY = POLICY.replace("perSubjectPerMin: 10", "perSubjectPerMin: 1000");

describe("the agent and traces", () => {
  const harness = agentHarness();
  const callsOf = (path: string) => harness.fake.calls.filter((call) => call.path === path);
  const ask = (traceparent?: unknown, changes = {}) =>
    harness.fake.enqueue({ ...sampleRequest(harness.key, Date.now(), changes), traceparent });

  for (const inBatches of [false, true])
    test(`a signature is sent in the trace of its request, ${inBatches ? "in a batch" : "alone"}`, async () => {
      harness.fake.inBatches = inBatches;
      harness.start(MANY);
      assert.equal((await ask(TRACE)).outcome, "signed");
      const [call] = callsOf("agent/sign");
      assert.equal(call?.traceparent, TRACE);
      assert.ok(!JSON.stringify(call.body).includes("4bf92f35"), "the body is as it was");
      assert.ok(harness.fake.calls.every(({ path, traceparent }) => path === "agent/sign" || !traceparent));
    });

  test("so are a refusal and a challenge", async () => {
    harness.start(withChallenge("number_match"));
    assert.equal((await ask(TRACE, { access: { scope: "openid admin" } })).outcome, "rejected");
    assert.equal(callsOf("agent/reject")[0]?.traceparent, TRACE);
    const rejected = ask(TRACE, { interactive: true });
    harness.fake.override = ({ path }) =>
      path === "agent/challenge" ? { status: 409, body: { error: "challenge_limit" } } : undefined;
    assert.equal((await rejected).outcome, "rejected");
    assert.equal(callsOf("agent/challenge")[0]?.traceparent, TRACE);
  });

  test("signatures of several traces in one call name none of them", async () => {
    harness.fake.inBatches = true;
    const all = Promise.all([TRACE, OTHER, TRACE, undefined].map((one) => ask(one)));
    harness.start(MANY);
    for (const { outcome } of await all) assert.equal(outcome, "signed");
    for (const { body, traceparent } of callsOf("agent/sign"))
      if (((body["signatures"] ?? []) as unknown[]).length > 1) assert.equal(traceparent, undefined);
    assert.ok(callsOf("agent/sign").some(({ body }) => ((body["signatures"] ?? []) as unknown[]).length > 1));
  });

  test("what is no traceparent is not sent, and keeps nothing from being signed", async () => {
    harness.start(MANY);
    for (const no of [
      undefined,
      null,
      7,
      {},
      "",
      `${TRACE}\r\nx: y`,
      TRACE.toUpperCase(),
      `${TRACE}-x`,
      "01-a-b-c",
    ])
      assert.equal((await ask(no)).outcome, "signed", String(no));
    assert.deepEqual(
      callsOf("agent/sign").filter(({ traceparent }) => traceparent !== undefined),
      [],
    );
  });
});
