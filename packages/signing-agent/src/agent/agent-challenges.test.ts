/** Challenges before a signature: through the agent's own channel, or on the wait page of a service that may lie. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { eventually } from "@signet/server/testing/eventually";
import type { Question, Reply } from "../challenges/channel.ts";
import { agentHarness, withChallenge } from "../testing/agent-harness.ts";
import { sampleRequest } from "../testing/sample-request.ts";

describe("the agent's challenges", () => {
  const harness = agentHarness();
  const { start, stop, requestTokens, journalLines, logged } = harness;
  const shownChallenge = () => harness.fake.calls.find(({ path }) => path === "agent/challenge")?.body;
  /** A user who sees the number on the wait page and replies. */
  const user = (type: (shown: string) => Reply) => ({
    ask: async (question: Question) => {
      assert.equal(question.code, undefined);
      return type(String(shownChallenge()?.["display"]));
    },
  });

  test("number_match: signs when the number comes through the agent's own channel", async () => {
    start(withChallenge("number_match"), { channel: user((answer) => ({ outcome: "answered", answer })) });
    assert.equal((await requestTokens()).outcome, "signed");
    assert.equal((await journalLines())[0]?.["challenge"], "number_match");
  });

  test("number_match: an answer from the service is ignored", async () => {
    start(withChallenge("number_match"), {
      channel: { ask: () => new Promise(() => {}) },
    });
    const request = sampleRequest(harness.key, Date.now());
    const ended = harness.fake.enqueue(request);
    await eventually("the challenge is shown", () => shownChallenge() !== undefined);
    const challengeId = String(shownChallenge()?.["challengeId"]);
    harness.fake.answer(request.requestId, challengeId, shownChallenge()?.["display"]);
    const knowing = eventually("the next poll names the answer", () =>
      harness.fake.calls.some(({ query }) => query.get("known") === challengeId),
    );
    assert.equal(await Promise.race([ended, knowing]), undefined);
  });

  test("a known answer is not requested again: the next poll waits for others", async () => {
    start(withChallenge("number_match"), { channel: { ask: () => new Promise(() => {}) } });
    const request = sampleRequest(harness.key, Date.now());
    void harness.fake.enqueue(request);
    await eventually("the challenge is shown", () => shownChallenge() !== undefined);
    const challengeId = String(shownChallenge()?.["challengeId"]);
    harness.fake.answer(request.requestId, challengeId, true);
    const knowing = () => harness.fake.calls.filter(({ query }) => query.get("known") === challengeId);
    await eventually("the poll names the known answer", () => knowing().length > 0);
    // As many as there were a second apart before: this one is leased.
    await delay(1_200);
    assert.equal(knowing().length, 1);
  });

  test("at most 64 users wait per request that may be signed at the same time", async () => {
    const limits = "perSubjectPerMin: 1000, concurrency: 1";
    start(withChallenge("confirm").replace("perSubjectPerMin: 10, concurrency: 16", limits));
    for (let index = 0; index < 66; index += 1) void requestTokens();
    const asked = () => harness.fake.calls.filter(({ path }) => path === "agent/challenge").length;
    await eventually("64 users have a challenge", () => asked() >= 64);
    await delay(100);
    assert.equal(asked(), 64);
  });

  test("number_match: a wrong number, or the user's refusal, is final", async () => {
    start(withChallenge("number_match"), { channel: user(() => ({ outcome: "answered", answer: "7" })) });
    const wrong = await requestTokens();
    assert.ok(wrong.outcome === "rejected" && wrong.reason === "challenge_failed");
    await stop();
    start(withChallenge("number_match"), { channel: user(() => ({ outcome: "denied" })) });
    const no = await requestTokens();
    assert.ok(no.outcome === "rejected" && no.reason === "user_denied");
  });

  test("pin: the code must come back from the wait page; after a typing error there is another try", async () => {
    const request = sampleRequest(harness.key, Date.now());
    let asked = 0;
    const channel = {
      ask: async ({ code, challengeId }: Question): Promise<Reply> => {
        asked += 1;
        harness.fake.answer(
          request.requestId,
          challengeId,
          asked === 1 ? "000000x" : `${code?.slice(0, 3)} ${code?.slice(3)}`,
        );
        return { outcome: "delivered" };
      },
    };
    start(withChallenge("pin"), { channel });
    assert.equal((await harness.fake.enqueue(request)).outcome, "signed");
    assert.equal(asked, 2);
    for (const { body } of harness.fake.calls.filter(({ path }) => path === "agent/challenge"))
      assert.ok(!/\d{6}/.test(`${body["prompt"]}${body["display"] ?? ""}`));
  });

  test("confirm: only the wait page's own value counts as consent", async () => {
    for (const [answer, outcome] of [
      ["confirmed", "signed"],
      ["yes", "rejected"],
    ] as const) {
      start(withChallenge("confirm"));
      const request = sampleRequest(harness.key, Date.now());
      harness.fake.override = ({ path, body }) => {
        if (path === "agent/challenge")
          harness.fake.answer(request.requestId, String(body["challengeId"]), answer);
        return undefined;
      };
      assert.equal((await harness.fake.enqueue(request)).outcome, outcome);
      await stop();
    }
  });

  test("without a browser the request is refused with step_up_required", async () => {
    start(withChallenge("confirm"));
    const ended = await requestTokens({ interactive: false });
    assert.ok(ended.outcome === "rejected" && ended.reason === "step_up_required");
    assert.equal(shownChallenge(), undefined);
  });

  test("tokens for a sign-in that passed a challenge need no second one, for the same user and client only", async () => {
    start(withChallenge("number_match"), { channel: user((answer) => ({ outcome: "answered", answer })) });
    const first = sampleRequest(harness.key, Date.now());
    await harness.fake.enqueue(first);
    const again = { interactive: false, context: { parentRequestId: first.requestId } };
    assert.equal((await requestTokens(again)).outcome, "signed");
    const sub = "66666666-6666-4666-8666-666666666666";
    const other = { ...again, access: { sub }, id: { sub }, context: { ...again.context, sub } };
    assert.equal((await requestTokens(other)).outcome, "rejected");
    const passed = (await journalLines()).map(({ challenge, passedIn }) => [challenge, passedIn]);
    assert.deepEqual(passed[0], ["number_match", undefined]);
    assert.deepEqual(passed[2], ["number_match", first.requestId]);
  });

  test("a lost lease ends the wait, and nothing is signed", async () => {
    start(withChallenge("confirm"));
    const request = sampleRequest(harness.key, Date.now());
    void harness.fake.enqueue(request);
    await eventually("the challenge is shown", () => shownChallenge() !== undefined);
    harness.fake.loseLease(request.requestId);
    await eventually("the lost lease is logged", () => logged.some((line) => line.includes("lease lost")));
    assert.equal(harness.fake.calls.filter(({ path }) => path === "agent/sign").length, 0);
  });
});
