/** The wait page's endpoints over HTTP, with a real authorization request before them and an agent of the test behind. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { forEachDatabase } from "../../../testing/databases.ts";
import {
  authorizationRequest,
  type TestBrowser,
  type TestPage,
  testBrowser,
} from "../../../testing/fakes/browser.ts";
import { type FakeClock, fakeClock } from "../../../testing/fakes/fake-clock.ts";
import { quickPasswords } from "../../../testing/fakes/quick-passwords.ts";
import { makeAgent, makePool, type TestAgent } from "../../../testing/fixtures/agent.ts";
import { postForm } from "../../../testing/fixtures/client.ts";
import { askForCodes, decideDeviceCode, makeDeviceApp, poll } from "../../../testing/fixtures/device.ts";
import {
  answerOf,
  decide,
  follow,
  logIn,
  showsConsent,
  showsLogin,
} from "../../../testing/fixtures/visit.ts";
import {
  makeClient,
  makeOrganisation,
  REDIRECT_URI,
  startTestService,
  type TestClient,
  type TestOrganisation,
  type TestService,
} from "../../../testing/test-service.ts";
import { passkeyChallenge } from "../requests/signing-input.ts";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let clock: FakeClock;
  let org: TestOrganisation;
  let web: TestClient;
  let agent: TestAgent;
  let signingPoolId: string;
  before(async () => {
    clock = fakeClock();
    running = await startTestService({ databaseUrl: await fresh(), clock, passwords: quickPasswords });
    org = await makeOrganisation(running.service);
    // The browser is led to the wait page at once.
    const pool = await makePool(running.service, org, { tokenWaitSeconds: 0 });
    agent = await makeAgent(running.service, org, pool);
    signingPoolId = pool.id;
    web = await makeClient(running.service, org.organisation, {
      redirectUris: [REDIRECT_URI],
      homepageUri: "https://app.example/",
      signingPoolId,
    });
  });
  after(async () => {
    await running.close();
    assert.deepEqual(running.errors, []);
  });

  /** From the authorization request to the wait page, which an agent that does nothing leads to. */
  const arrive = async (browser = testBrowser(), more: Record<string, string> = {}) => {
    const { query, verifier } = authorizationRequest(web.application.id, REDIRECT_URI, more);
    let page = await follow(browser, await browser.get(`${org.issuer}/authorize?${query}`));
    if (showsLogin(page)) page = await logIn(browser, org, page);
    if (showsConsent(page)) page = await decide(browser, org, page);
    assert.match(page.url, /\/sovereign\/wait\/[\w-]{32}$/, page.body.slice(0, 300));
    const requestId = page.url.split("/").at(-1) ?? "";
    return { browser, page, verifier, requestId, csrf: String(page.hidden["csrf"]) };
  };
  type Arrived = Awaited<ReturnType<typeof arrive>>;
  const statusOf = async ({ browser, page }: Pick<Arrived, "browser" | "page">) => {
    const { status, body } = await browser.get(`${page.url}/status`);
    assert.equal(status, 200, body);
    return JSON.parse(body) as Record<string, unknown>;
  };
  const claim = async ({ requestId }: Pick<Arrived, "requestId">) => {
    const claimed = await agent.claim({ requestId });
    assert.ok(claimed);
    return claimed;
  };
  /** A wait page with a question on it. */
  const ask = async (more: Record<string, unknown> = {}) => {
    const arrived = await arrive();
    const claimed = await claim(arrived);
    const asked = { type: "pin", prompt: "We have sent you a code", ...more };
    assert.equal((await agent.challenge(claimed, asked)).status, 202);
    return { ...arrived, claimed };
  };
  const respond = ({ browser, page }: Pick<Arrived, "browser" | "page">, form: Record<string, string>) =>
    browser.post(`${page.url}/respond`, form, { "sec-fetch-site": "same-origin" });
  const respondJson = async ({ browser, page }: Pick<Arrived, "browser" | "page">, body: unknown) => {
    const response = await fetch(`${page.url}/respond`, {
      method: "POST",
      headers: { "content-type": "application/json", cookie: cookieOf(browser) },
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };
  const cookieOf = (browser: TestBrowser) =>
    [...browser.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
  const answersOf = async () => (await agent.call("queue?max=0")).body["responses"];
  const redeem = ({ verifier }: Arrived, code: string) =>
    postForm(`${org.issuer}/token`, {
      grant_type: "authorization_code",
      code,
      redirect_uri: REDIRECT_URI,
      code_verifier: verifier,
      client_id: web.application.id,
      client_secret: web.secret,
    });
  const showsWait = ({ status, body }: TestPage) => assert.match(body, /id="wait"/, `${status}`);

  test("leads from the wait page to one code and the signed tokens", async () => {
    const arrived = await arrive();
    const { browser, page } = arrived;
    showsWait(page);
    assert.equal(page.headers.get("cache-control"), "no-store");
    assert.equal((await statusOf(arrived))["detail"], "no_agent");
    const claimed = await claim(arrived);
    assert.deepEqual((await statusOf(arrived))["status"], "pending");
    const early = await browser.get(`${page.url}/continue`);
    assert.deepEqual([early.status, early.location], [303, page.url], "not before it is signed");
    assert.equal((await agent.sign(claimed)).status, 200);

    const status = await statusOf(arrived);
    assert.deepEqual([status["status"], status["continueUrl"]], ["signed", `${page.url}/continue`]);
    assert.deepEqual((await browser.get(page.url)).location, `${page.url}/continue`);
    const done = await browser.get(`${page.url}/continue`);
    const code = answerOf(done).get("code") ?? "";
    assert.match(code, /^sgn_ac_/);
    assert.equal(answerOf(done).get("iss"), String(claimed.context["issuer"]));
    const again = await browser.get(`${page.url}/continue`);
    assert.deepEqual([again.status, again.location], [200, undefined]);
    assert.match(again.body, /Already completed/);

    const tokens = await redeem(arrived, code);
    assert.equal(tokens.status, 200, JSON.stringify(tokens.body));
    for (const { use, protected: head, payload } of claimed.tokens)
      assert.ok(String(tokens.body[use]).startsWith(`${head}.${payload}.`), use);
    assert.match((await browser.get(page.url)).body, /Already completed/);
  });

  test("twenty simultaneous continues issue one code", async () => {
    const arrived = await arrive();
    await agent.sign(await claim(arrived));
    const { browser, page } = arrived;
    const answers = await Promise.all(Array.from({ length: 20 }, () => browser.get(`${page.url}/continue`)));
    assert.equal(answers.filter(({ location }) => location?.includes("code=")).length, 1);
  });

  test("only the session that began the request has access", async () => {
    const { page, requestId, csrf } = await ask();
    const stranger = testBrowser();
    const other = await arrive(stranger);
    const calls = (browser: TestBrowser) => [
      browser.get(page.url),
      browser.get(`${page.url}/status`),
      browser.get(`${page.url}/stream`),
      browser.get(`${page.url}/continue`),
      browser.post(`${page.url}/respond`, { csrf: other.csrf, challengeId: "c-1", answer: "1" }),
      browser.post(`${page.url}/respond`, { csrf, cancel: "true" }),
    ];
    for (const browser of [stranger, testBrowser()])
      for (const answer of await Promise.all(calls(browser))) assert.equal(answer.status, 404, answer.url);
    const { status, body } = await stranger.get(`${page.url}/status`);
    assert.deepEqual([status, (JSON.parse(body) as { error: string }).error], [404, "not_found"]);
    const elsewhere = await makeOrganisation(running.service, "Other");
    const foreign = await stranger.get(`${elsewhere.issuer}/sovereign/wait/${requestId}/status`);
    assert.equal(foreign.status, 404);
  });

  test("a form answer redirects to the page and reaches the agent", async () => {
    const asked = await ask();
    const shown = await asked.browser.get(asked.page.url);
    assert.match(shown.body, /We have sent you a code[\s\S]*<input id="answer"/);
    const { challenge } = (await statusOf(asked)) as { challenge: Record<string, unknown> };
    assert.deepEqual(
      [challenge["challengeId"], challenge["type"], challenge["expiresIn"]],
      ["c-1", "pin", 60],
    );

    const empty = await respond(asked, { ...shown.hidden, answer: " " });
    assert.deepEqual([empty.status, empty.location], [303, asked.page.url]);
    const answered = await respond(asked, { ...shown.hidden, answer: "31337" });
    assert.deepEqual([answered.status, answered.location], [303, asked.page.url]);
    assert.deepEqual(await answersOf(), [
      { requestId: asked.requestId, challengeId: "c-1", outcome: "answered", answer: "31337" },
    ]);
    assert.equal((await statusOf(asked))["detail"], "answered");
    assert.match((await asked.browser.get(asked.page.url)).body, /Checking your answer/);
    const twice = await respond(asked, { ...shown.hidden, answer: "again" });
    assert.deepEqual(
      [twice.status, twice.location],
      [303, asked.page.url],
      "a button pressed twice is no fault",
    );
    assert.equal(
      (await respondJson(asked, { csrf: asked.csrf, challengeId: "c-1", answer: "x" })).status,
      409,
    );
    assert.equal((await agent.sign(asked.claimed)).status, 200);
  });

  test("a JSON answer gets 202, or the error code of its refusal", async () => {
    const asked = await ask({ type: "number_match", display: "42" });
    const { csrf } = asked;
    const refused = async (body: unknown) => {
      const answer = await respondJson(asked, body);
      return [answer.status, answer.body["error"]];
    };
    assert.deepEqual(await refused({ challengeId: "c-1", answer: "done" }), [403, "csrf"]);
    assert.deepEqual(await refused({ csrf: "x", challengeId: "c-1" }), [403, "csrf"]);
    assert.deepEqual(await refused({ csrf, challengeId: "c-0" }), [409, "stale_challenge"]);
    assert.deepEqual(await refused({ csrf }), [409, "stale_challenge"]);
    assert.deepEqual(await refused({ csrf, cancel: true, challengeId: "c-0" }), [409, "stale_challenge"]);
    for (const body of ["{", "[]", { csrf, challengeId: 1 }, { csrf, more: 1 }])
      assert.deepEqual(await refused(body), [400, "invalid_request"], JSON.stringify(body));
    const big = await respondJson(asked, { csrf, challengeId: "c-1", answer: "x".repeat(70_000) });
    assert.equal(big.status, 413);
    const taken = await respondJson(asked, { csrf, challengeId: "c-1" });
    assert.deepEqual([taken.status, taken.body], [202, { status: "accepted" }]);
    assert.deepEqual(await refused({ csrf, challengeId: "c-1" }), [409, "already_answered"]);
    await agent.reject(asked.claimed, "challenge_failed");
    assert.deepEqual(await refused({ csrf, challengeId: "c-1" }), [409, "stale_challenge"]);
  });

  test("a foreign or outdated form has no effect and is reported on the page", async () => {
    const asked = await ask();
    const bad = await respond(asked, { challengeId: "c-1", csrf: "x", answer: "1" });
    assert.equal(bad.status, 403);
    assert.match(bad.body, /id="wait-notice" role="alert"[\s\S]*This page had expired/);
    const foreign = await asked.browser.post(
      `${asked.page.url}/respond`,
      { csrf: asked.csrf, cancel: "true" },
      { "sec-fetch-site": "cross-site" },
    );
    assert.equal(foreign.status, 403);
    const stale = await respond(asked, { challengeId: "c-0", csrf: asked.csrf, answer: "1" });
    assert.equal(stale.status, 409);
    assert.match(stale.body, /The question changed in the meantime[\s\S]*<input id="answer"/);
    assert.equal((await statusOf(asked))["status"], "challenge");
    await agent.reject(asked.claimed, "policy_denied");
  });

  test("the agent gets a passkey assertion as an object", async () => {
    const arrived = await arrive();
    const claimed = await claim(arrived);
    const publicKey = { challenge: passkeyChallenge(claimed.tokens), rpId: "127.0.0.1" };
    assert.equal((await agent.challenge(claimed, { type: "webauthn", publicKey })).status, 202);
    const assertion = { id: "k", response: { signature: "s" } };
    const form = { csrf: arrived.csrf, challengeId: "c-1", answer: JSON.stringify(assertion) };
    assert.equal((await respond(arrived, form)).status, 303);
    const [response] = (await answersOf()) as [{ answer: unknown }];
    assert.deepEqual(response.answer, assertion);
    await agent.reject(claimed, "policy_denied");
  });

  test("cancelling fails a claimed request, and the application gets the error", async () => {
    const arrived = await arrive();
    const claimed = await claim(arrived);
    const { browser, page, csrf } = arrived;
    const cancelled = await respond(arrived, { csrf, cancel: "true" });
    assert.deepEqual([cancelled.status, cancelled.location], [303, page.url]);
    assert.equal((await agent.sign(claimed)).body["error"], "already_final");
    const status = await statusOf(arrived);
    assert.deepEqual([status["status"], status["reason"]], ["failed", "user_denied"]);
    const shown = await browser.get(page.url);
    assert.match(shown.body, /Sign-in cancelled[\s\S]*Go back to Web/);
    const back = answerOf(await browser.get(`${page.url}/continue`));
    assert.deepEqual([back.get("error"), back.get("code")], ["access_denied", null]);
    assert.match((await respond(arrived, { csrf, cancel: "true" })).location ?? "", /\/wait\/[\w-]+$/);
  });

  test("an expired request returns to the application with an error", async () => {
    const arrived = await arrive();
    clock.advance(301_000);
    const status = await statusOf(arrived);
    assert.deepEqual([status["status"], status["expiresIn"], status["reason"]], ["expired", 0, undefined]);
    assert.match((await arrived.browser.get(arrived.page.url)).body, /Timed out/);
    const back = answerOf(await arrived.browser.get(`${arrived.page.url}/continue`));
    assert.equal(back.get("error"), "temporarily_unavailable");
  });

  test("signing out ends access to the wait page", async () => {
    const arrived = await arrive();
    const { browser, page } = arrived;
    const question = await browser.get(`${org.issuer}/end_session`);
    await browser.post(`${org.issuer}/end_session`, question.hidden);
    assert.equal((await browser.get(page.url)).status, 404);
    assert.equal((await browser.get(`${page.url}/continue`)).status, 404);
  });

  test("uses the application's ui_locales, then the browser's languages", async () => {
    const { browser, page } = await arrive(testBrowser(), { ui_locales: "da" });
    assert.match(page.body, /<html lang="da">[\s\S]*kan ikke bekræfte lige nu/);
    const asked = { "accept-language": "fr" };
    assert.match((await browser.get(page.url, asked)).body, /<html lang="da">/);
    const other = await arrive();
    assert.match((await other.browser.get(other.page.url, asked)).body, /<html lang="fr">/);
  });

  test("the device grant waits here, too, without a continuation", async () => {
    const television = await makeDeviceApp(running.service, org, { signingPoolId });
    const letDeviceIn = async () => {
      const browser = testBrowser();
      const codes = await askForCodes(org, television);
      const page = await follow(browser, await decideDeviceCode(browser, org, codes));
      showsWait(page);
      assert.equal((await poll(org, codes)).body["error"], "authorization_pending");
      const requestId = page.url.split("/").at(-1) ?? "";
      return { browser, page, codes, requestId, csrf: String(page.hidden["csrf"]) };
    };
    const first = await letDeviceIn();
    assert.equal((await agent.sign(await claim(first))).status, 200);
    assert.deepEqual(
      [(await statusOf(first))["status"], (await statusOf(first))["continueUrl"]],
      ["signed", undefined],
    );
    assert.match((await first.browser.get(first.page.url)).body, /Your device is connected/);
    assert.equal((await first.browser.get(`${first.page.url}/continue`)).location, first.page.url);
    const second = await letDeviceIn();
    assert.equal((await respond(second, { csrf: second.csrf, cancel: "true" })).status, 303);
    assert.match((await second.browser.get(second.page.url)).body, /get a new code on your device/);
    clock.advance(6_000);
    assert.equal((await poll(org, second.codes)).body["error"], "access_denied");
  });

  test("the stream sends each change and ends with the final one", async () => {
    const arrived = await arrive();
    const { browser, page } = arrived;
    const response = await fetch(`${page.url}/stream`, { headers: { cookie: cookieOf(browser) } });
    assert.equal(response.headers.get("content-type"), "text/event-stream; charset=utf-8");
    const told = readEvents(response);
    const next = async () => {
      const { value } = await told.next();
      assert.ok(value);
      return value;
    };
    assert.equal((await next()).event, "pending");
    const claimed = await claim(arrived);
    await agent.challenge(claimed, { type: "number_match", display: "42" });
    let heard = await next();
    while (heard.event === "pending") heard = await next();
    assert.deepEqual(
      [heard.event, (heard.data["challenge"] as Record<string, unknown>)["display"]],
      ["challenge", "42"],
    );
    await respondJson(arrived, { csrf: arrived.csrf, challengeId: "c-1" });
    assert.equal((await next()).data["detail"], "answered");
    await agent.sign(claimed);
    const last = await next();
    assert.deepEqual([last.event, last.data["continueUrl"]], ["signed", `${page.url}/continue`]);
    assert.equal((await told.next()).done, true);
    const headers = { "last-event-id": last.id };
    assert.equal((await browser.get(`${page.url}/stream`, headers)).status, 204);
    assert.match((await browser.get(`${page.url}/stream`)).body, /event: signed/);
  });

  test("a shutdown ends streams, and their browsers reconnect", async () => {
    const { browser, page } = await arrive();
    const response = await fetch(`${page.url}/stream`, { headers: { cookie: cookieOf(browser) } });
    const told = response.text();
    await running.app.close();
    assert.match(await told, /^retry: 2000\n\nevent: pending\n/);
  });
});

interface Event {
  readonly event: string;
  readonly id: string;
  readonly data: Record<string, unknown>;
}

async function* readEvents(response: Response): AsyncGenerator<Event> {
  assert.ok(response.body);
  let text = "";
  for await (const piece of response.body.pipeThrough(new TextDecoderStream())) {
    text += piece;
    const blocks = text.split("\n\n");
    text = blocks.pop() ?? "";
    for (const block of blocks) {
      const [, event = "", id = "", data = ""] = /^event: (.*)\nid: (.*)\ndata: (.*)$/.exec(block) ?? [];
      if (event !== "") yield { event, id, data: JSON.parse(data) as Record<string, unknown> };
    }
  }
}
