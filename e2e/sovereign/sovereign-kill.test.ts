/**
 * The server killed with a signing request in every state, and while tokens are handed out, and started again on the same
 * data: everything goes on where it was, in the same browser, and nothing is handed out twice.
 */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { createLocalJWKSet, type JSONWebKeySet, jwtVerify } from "jose";
import { forEachDatabase } from "../../packages/server/src/testing/databases.ts";
import {
  authorizationRequest,
  authorize,
  type TestBrowser,
  type TestPage,
  testBrowser,
} from "../../packages/server/src/testing/fakes/browser.ts";
import {
  type Claimed,
  makeAgent,
  setTokenWait,
  type TestAgent,
} from "../../packages/server/src/testing/fixtures/agent.ts";
import { type Answer, credentials, postForm } from "../../packages/server/src/testing/fixtures/client.ts";
import { answerOf, follow, logIn, showsLogin } from "../../packages/server/src/testing/fixtures/visit.ts";
import { makeClient, type TestClient } from "../../packages/server/src/testing/test-service.ts";
import type { ServerProcess } from "../support/server-process.ts";
import { type SovereignFixture, setUpFixture } from "./sovereign-fixture.ts";

const redirectUri = "http://127.0.0.1/callback";
const longestMoreMs = 15;
const quiet = { LOG_LEVEL: "warn" };
const kills = process.env["SIGNET_TEST_WHOLE"] === "1" ? 12 : 1;
const mostMoreKills = 5;
const limitMs = 400_000;

forEachDatabase(({ name, fresh }) => {
  const title =
    "killed with a request in every state, and while tokens are handed out: all goes on, nothing comes twice";
  test(title, { timeout: limitMs }, async (t) => {
    // The browser is led to the wait page at once.
    const databaseUrl = name === "postgres" ? await fresh() : undefined;
    const fixture = await setUpFixture(t, { databaseUrl, tokenWaitSeconds: 0 });
    const place = { fixture, ...(await makeCast(fixture)), browser: testBrowser() };
    const first = await fixture.start(quiet);
    const waiting: Waiting[] = [];
    await place.agent.call("queue?max=0");
    for (const state of states) waiting.push(await bring(place, state));
    const before = await Promise.all(waiting.map((one) => statusOf(place.browser, one)));
    assert.deepEqual(
      before.map(({ status, detail }) => [status, detail]),
      states.map((state) => shown[state]),
    );
    await renewLeases(place, waiting);
    await first.kill();
    await fixture.operate((service) => setTokenWait(service, fixture.pool, 2));
    const second = await fixture.start(quiet);
    await renewLeases(place, waiting);
    const after = await Promise.all(waiting.map((one) => statusOf(place.browser, one)));
    assert.deepEqual(after.map(withoutTimes), before.map(withoutTimes));
    const tokens = await goOnFrom(place, waiting);
    await handOut(t, { place, server: second, tokens });
  });
});

const makeCast = ({ operate, org, pool }: SovereignFixture) =>
  operate(async (service) => ({
    agent: await makeAgent(service, org, pool),
    client: await makeClient(service, org.organisation, {
      redirectUris: [redirectUri],
      signingPoolId: pool.id,
      requireConsent: false,
      grantTypes: ["authorization_code", "refresh_token", "client_credentials"],
      allowedScopes: ["openid", "profile", "email", "offline_access", "jobs:run"],
    }),
  }));

/** A start takes its time on a busy machine, and a lease lasts 30 seconds. */
async function renewLeases({ agent }: Place, waiting: readonly Waiting[]): Promise<void> {
  const held = waiting.flatMap(({ claimed }) => (claimed ? [claimed.requestId] : []));
  assert.equal((await agent.call(`queue?max=0&renew=${held}`)).status, 200);
}

/** Each from where it was, in the same browser. @returns the access tokens */
async function goOnFrom(place: Place, waiting: readonly Waiting[]): Promise<string[]> {
  const tokens: string[] = [];
  for (const one of waiting) {
    if (one.state === "failed") {
      const back = answerOf(await place.browser.get(`${one.page.url}/continue`));
      assert.deepEqual([back.get("error"), back.get("code")], ["access_denied", null]);
      continue;
    }
    const [signed] = (await finish(place, one)).tokens;
    const token = await takeOnce(place, one);
    assert.ok(token.startsWith(`${signed?.protected}.${signed?.payload}.`), one.state);
    tokens.push(token);
  }
  return tokens;
}

type HandingOut = { place: Place; server: ServerProcess; tokens: readonly string[] };

/** None is handed out twice, and who has none gets one. */
async function handOut(t: TestContext, { place, server: first, tokens }: HandingOut): Promise<void> {
  const { fixture, agent } = place;
  let server = first;
  const stopped = new AbortController();
  t.after(() => stopped.abort());
  const signing = Promise.all([1, 2, 3].map(() => signUntil(agent, stopped.signal)));
  const load = await startTokenLoad(place);
  // Once more where all answers were quicker than the kill.
  for (let kill = 0; kill < kills || (load.unanswered === 0 && kill < kills + mostMoreKills); kill += 1)
    server = await killAndGoOn(load, server);
  stopped.abort();
  await signing;
  const all = [...tokens, ...load.tokens];
  const keys = await keysOf(fixture);
  for (const token of all) await jwtVerify(token, keys, { issuer: fixture.poolIssuer, typ: "at+jwt" });
  await server.stop();
  await checkReleases(fixture, all);
  const { unanswered, lostCodes } = load;
  t.diagnostic(`${all.length} tokens, ${unanswered} answers lost in a kill, ${lostCodes} codes with them`);
  assert.ok(unanswered > 0, "the kills came under load");
}

/** Where the kill finds a request; of `failed` the agent has refused it. */
const states = ["pending", "claimed", "challenge", "responded", "signed", "failed"] as const;
type State = (typeof states)[number];

/** What the browser sees of it: status and detail. */
const shown: Record<State, readonly [string, string | undefined]> = {
  pending: ["pending", undefined],
  claimed: ["pending", undefined],
  challenge: ["challenge", undefined],
  responded: ["pending", "answered"],
  signed: ["signed", undefined],
  failed: ["failed", undefined],
};

type Place = { fixture: SovereignFixture; agent: TestAgent; client: TestClient; browser: TestBrowser };

type Waiting = { state: State; page: TestPage; requestId: string; verifier: string; claimed?: Claimed };

/** From the application to the wait page, and on to this state. */
async function bring(place: Place, state: State): Promise<Waiting> {
  const { fixture, agent, client, browser } = place;
  const { query, verifier } = authorizationRequest(client.application.id, redirectUri);
  let page = await follow(browser, await browser.get(`${fixture.org.issuer}/authorize?${query}`));
  if (showsLogin(page)) page = await logIn(browser, fixture.org, page);
  assert.match(page.url, /\/sovereign\/wait\/[\w-]{32}$/, page.body.slice(0, 300));
  const requestId = page.url.split("/").at(-1) ?? "";
  const arrived: Waiting = { state, page, requestId, verifier };
  if (state === "pending") return arrived;
  const claimed = await agent.claim({ requestId });
  assert.ok(claimed);
  if (state === "challenge" || state === "responded") {
    assert.equal((await agent.challenge(claimed, { type: "pin" })).status, 202);
    if (state === "responded") await respond(browser, page);
  }
  if (state === "signed") assert.equal((await agent.sign(claimed)).status, 200);
  if (state === "failed") assert.equal((await agent.reject(claimed, "policy_denied")).status, 200);
  return { ...arrived, claimed };
}

async function respond(browser: TestBrowser, page: TestPage): Promise<void> {
  const form = { csrf: page.hidden["csrf"] ?? "", challengeId: "c-1", answer: "31337" };
  const answered = await browser.post(`${page.url}/respond`, form, { "sec-fetch-site": "same-origin" });
  assert.deepEqual([answered.status, answered.location], [303, page.url]);
}

async function statusOf(browser: TestBrowser, { page }: Waiting): Promise<Record<string, unknown>> {
  const { status, body } = await browser.get(`${page.url}/status`);
  assert.equal(status, 200, body);
  return JSON.parse(body) as Record<string, unknown>;
}

function withoutTimes({ expiresIn, challenge, ...rest }: Record<string, unknown>) {
  assert.equal(typeof expiresIn, "number");
  const { expiresIn: left, ...question } = (challenge ?? {}) as Record<string, unknown>;
  return { ...rest, question, hasEnd: left !== undefined };
}

/** What was left to do when the server was killed, with the leases and forms of before. */
async function finish({ agent, browser }: Place, { state, page, ...one }: Waiting): Promise<Claimed> {
  const claimed = one.claimed ?? (await agent.claim({ requestId: one.requestId }));
  assert.ok(claimed, state);
  if (state === "challenge") await respond(browser, page);
  if (state === "challenge" || state === "responded") {
    const { body } = await agent.call("queue?max=0&wait=25");
    const answers = body["responses"] as Array<{ requestId: string; answer: unknown }>;
    assert.equal(answers.find(({ requestId }) => requestId === one.requestId)?.answer, "31337");
  }
  // The signing lease's own repeat changes nothing.
  assert.equal((await agent.sign(claimed)).status, 200, state);
  return claimed;
}

/** @returns the access token; neither the way on nor the code works twice */
async function takeOnce({ fixture, client, browser }: Place, { page, verifier }: Waiting): Promise<string> {
  const code = answerOf(await browser.get(`${page.url}/continue`)).get("code") ?? "";
  assert.equal((await browser.get(`${page.url}/continue`)).location, undefined);
  const redeemed = await redeem({ fixture, client }, { code, verifier });
  assert.equal(redeemed.status, 200, JSON.stringify(redeemed.body));
  assert.equal((await redeem({ fixture, client }, { code, verifier })).body["error"], "invalid_grant");
  return String(redeemed.body["access_token"]);
}

type Code = { code: string; verifier: string };
const longestWaitMs = 90_000;

type Asking = { fixture: SovereignFixture; client: TestClient };

/** Retries on 503: the lease of a request that was claimed when the server was killed expires after 30 seconds. */
async function ask({ fixture, client }: Asking, form: Record<string, string>): Promise<Answer> {
  const deadline = Date.now() + longestWaitMs;
  for (;;) {
    const answer = await postForm(`${fixture.org.issuer}/token`, { ...form, ...credentials(client) });
    if (answer.status !== 503 || Date.now() > deadline) return answer;
    await delay(200);
  }
}

const redeem = (asking: Asking, { code, verifier }: Code): Promise<Answer> =>
  ask(asking, { grant_type: "authorization_code", code, redirect_uri: redirectUri, code_verifier: verifier });

const refresh = (asking: Asking, token: string): Promise<Answer> =>
  ask(asking, { grant_type: "refresh_token", refresh_token: token });

const askForItself = (asking: Asking): Promise<Answer> =>
  ask(asking, { grant_type: "client_credentials", scope: "jobs:run" });

/** An agent that outlives its server, and retries its submissions until the server responds. */
async function signUntil(agent: TestAgent, stopped: AbortSignal): Promise<void> {
  const untilAnswered = async <T>(call: () => Promise<T>): Promise<T | undefined> => {
    while (!stopped.aborted)
      try {
        return await call();
      } catch {
        await delay(50);
      }
    return undefined;
  };
  while (!stopped.aborted) {
    const claimed = await untilAnswered(() => agent.claim({ wait: 1 }));
    if (claimed) await untilAnswered(() => agent.sign(claimed));
  }
}

type TokenLoad = Asking & {
  browser: TestBrowser;
  /** The last refresh token of each family. */
  families: string[];
  tokens: string[];
  unanswered: number;
  lostCodes: number;
};

const codesAtOnce = 4;
const familyCount = 3;

async function startTokenLoad(asking: Asking): Promise<TokenLoad> {
  const browser = testBrowser();
  const load: TokenLoad = { ...asking, browser, families: [], tokens: [], unanswered: 0, lostCodes: 0 };
  for (let family = 0; family < familyCount; family += 1) {
    const { status, body } = await redeem(asking, await newCode(load));
    assert.equal(status, 200, JSON.stringify(body));
    load.tokens.push(String(body["access_token"]));
    load.families.push(String(body["refresh_token"]));
  }
  return load;
}

async function newCode({ fixture, client, browser }: TokenLoad): Promise<Code> {
  const { query, verifier } = authorizationRequest(client.application.id, redirectUri);
  const answer = await authorize(browser, { issuer: fixture.org.issuer, query, ...fixture.org.user });
  const code = answer.get("code");
  assert.ok(code, String(answer));
  return { code, verifier };
}

/** Sends all calls at once, kills the server after some responses, and repeats the calls without one. */
async function killAndGoOn(load: TokenLoad, server: ServerProcess): Promise<ServerProcess> {
  const codes: Code[] = [];
  while (codes.length < codesAtOnce) codes.push(await newCode(load));
  const calls: Array<() => Promise<Answer>> = [
    ...codes.map((code) => () => redeem(load, code)),
    ...load.families.map((token) => () => refresh(load, token)),
    ...codes.map(() => () => askForItself(load)),
  ];
  const killAfter = 1 + Math.floor(Math.random() * (calls.length / 2));
  const { promise: enough, resolve } = Promise.withResolvers<void>();
  let answered = 0;
  const answers = Promise.all(
    calls.map(async (call) => {
      const answer = await call().catch(() => undefined);
      answered += 1;
      if (answered === killAfter) resolve();
      return answer;
    }),
  );
  await enough;
  await delay(Math.random() * longestMoreMs);
  await server.kill();
  const heard = await answers;
  const next = await load.fixture.start(quiet);
  for (const [index, call] of calls.entries()) {
    const isCode = index < codes.length;
    const lost = heard[index] === undefined;
    const { status, body } = heard[index] ?? (await call());
    if (lost) load.unanswered += 1;
    if (isCode && lost && status === 400) {
      // Handed out, and the answer lost: the application signs its user in again.
      assert.equal(body["error"], "invalid_grant");
      load.lostCodes += 1;
      continue;
    }
    assert.equal(status, 200, JSON.stringify(body));
    load.tokens.push(String(body["access_token"]));
    const family = index - codes.length;
    if (family >= 0 && family < familyCount) load.families[family] = String(body["refresh_token"]);
  }
  for (const code of codes) assert.equal((await redeem(load, code)).body["error"], "invalid_grant");
  return next;
}

async function keysOf({ poolIssuer }: SovereignFixture) {
  return createLocalJWKSet((await (await fetch(`${poolIssuer}/jwks.json`)).json()) as JSONWebKeySet);
}

/** Each token is of a request of its own, which was signed and released once. */
async function checkReleases({ operate }: SovereignFixture, tokens: readonly string[]): Promise<void> {
  const ids = tokens.map(jtiOf);
  assert.equal(new Set(ids).size, ids.length, "no token id twice");
  await operate(async ({ database: { query } }) => {
    const requests = await query.selectFrom("signing_request").select(["state", "token_ids"]).execute();
    const released = requests
      .filter(({ state }) => state === "released")
      .map(({ token_ids }) => (JSON.parse(token_ids ?? "{}") as { access_token: string }).access_token);
    assert.equal(new Set(released).size, released.length);
    assert.deepEqual(
      ids.filter((id) => !released.includes(id)),
      [],
    );
    const events = query.selectFrom("audit_event").select("details");
    const signed = (await events.where("action", "=", "signing-request.signed").execute()).map(
      ({ details }) => (JSON.parse(String(details)) as { jti: string }).jti,
    );
    assert.equal(new Set(signed).size, signed.length, "signed once, by the audit log");
    assert.deepEqual(
      ids.filter((id) => !signed.includes(id)),
      [],
    );
  });
}

const jtiOf = (token: string): string =>
  (JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString()) as { jti: string }).jti;
