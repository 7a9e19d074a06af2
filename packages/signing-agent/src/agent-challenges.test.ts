/** Users who are asked before the agent signs: by its own channel, or on the page of a service that may lie. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import type { Question, Reply } from "./challenges/channel.ts";
import { agentStage, withChallenge } from "./testing/agent-stage.ts";
import { sampleRequest } from "./testing/sample-request.ts";

describe("an agent's challenges", () => {
  const stage = agentStage();
  const { start, stop, ask, journalLines, logged } = stage;
  const displayOf = () => stage.fake.calls.find(({ path }) => path === "agent/challenge")?.body;
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
    assert.equal((await journalLines())[0]?.["challenge"], "number_match");
  });

  test("number_match: what the service says of it counts for nothing", async () => {
    start(withChallenge("number_match"), {
      channel: { ask: () => new Promise(() => {}) },
    });
    const request = sampleRequest(stage.key, Date.now());
    const ended = stage.fake.enqueue(request);
    while (!displayOf()) await delay(5);
    stage.fake.answer(request.requestId, String(displayOf()?.["challengeId"]), displayOf()?.["display"]);
    const first = await Promise.race([ended, delay(300, "still waiting")]);
    assert.equal(first, "still waiting");
  });

  test("an answer that is known is not asked for again: the next poll waits for others", async () => {
    start(withChallenge("number_match"), { channel: { ask: () => new Promise(() => {}) } });
    const request = sampleRequest(stage.key, Date.now());
    void stage.fake.enqueue(request);
    while (!displayOf()) await delay(5);
    const challengeId = String(displayOf()?.["challengeId"]);
    stage.fake.answer(request.requestId, challengeId, true);
    const knowing = () => stage.fake.calls.filter(({ query }) => query.get("known") === challengeId);
    while (knowing().length === 0) await delay(20);
    // As many as there were a second apart before: this one is held.
    await delay(1_200);
    assert.equal(knowing().length, 1);
  });

  test("no more users are kept waiting than 64 for each request that may be signed at once", async () => {
    const limits = "perSubjectPerMin: 1000, concurrency: 1";
    start(withChallenge("confirm").replace("perSubjectPerMin: 10, concurrency: 16", limits));
    for (let index = 0; index < 66; index += 1) void ask();
    const asked = () => stage.fake.calls.filter(({ path }) => path === "agent/challenge").length;
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
    const request = sampleRequest(stage.key, Date.now());
    let asked = 0;
    const channel = {
      ask: async ({ code, challengeId }: Question): Promise<Reply> => {
        asked += 1;
        stage.fake.answer(
          request.requestId,
          challengeId,
          asked === 1 ? "000000x" : `${code?.slice(0, 3)} ${code?.slice(3)}`,
        );
        return { outcome: "delivered" };
      },
    };
    start(withChallenge("pin"), { channel });
    assert.equal((await stage.fake.enqueue(request)).outcome, "signed");
    assert.equal(asked, 2);
    for (const { body } of stage.fake.calls.filter(({ path }) => path === "agent/challenge"))
      assert.ok(!/\d{6}/.test(`${body["prompt"]}${body["display"] ?? ""}`));
  });

  test("confirm: nothing but the page's own word is a yes", async () => {
    for (const [answer, outcome] of [
      ["confirmed", "signed"],
      ["yes", "rejected"],
    ] as const) {
      start(withChallenge("confirm"));
      const request = sampleRequest(stage.key, Date.now());
      stage.fake.override = ({ path, body }) => {
        if (path === "agent/challenge")
          stage.fake.answer(request.requestId, String(body["challengeId"]), answer);
        return undefined;
      };
      assert.equal((await stage.fake.enqueue(request)).outcome, outcome);
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
    const first = sampleRequest(stage.key, Date.now());
    await stage.fake.enqueue(first);
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
    const request = sampleRequest(stage.key, Date.now());
    void stage.fake.enqueue(request);
    while (!displayOf()) await delay(5);
    stage.fake.lose(request.requestId);
    while (!logged.some((line) => line.includes("lease lost"))) await delay(5);
    assert.equal(stage.fake.calls.filter(({ path }) => path === "agent/sign").length, 0);
  });
});
