/** What a stolen look, a greedy browser or a hostile agent gets from a wait page. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { sql } from "kysely";
import { forEachDatabase } from "../../../testing/databases.ts";
import { eventually } from "../../../testing/eventually.ts";
import { authorizationRequest, type TestBrowser, testBrowser } from "../../../testing/fakes/browser.ts";
import { quickPasswords } from "../../../testing/fakes/quick-passwords.ts";
import { makeAgent, makePool, type TestAgent } from "../../../testing/fixtures/agent.ts";
import { decide, follow, logIn, showsConsent, showsLogin } from "../../../testing/fixtures/visit.ts";
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
import { MAX_STREAMS } from "./wait-stream.ts";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  let web: TestClient;
  let agent: TestAgent;
  before(async () => {
    running = await startTestService({ databaseUrl: await fresh(), passwords: quickPasswords });
    org = await makeOrganisation(running.service);
    const pool = await makePool(running.service, org, { tokenWaitSeconds: 0 });
    agent = await makeAgent(running.service, org, pool);
    const settings = { redirectUris: [REDIRECT_URI], signingPoolId: pool.id };
    web = await makeClient(running.service, org.organisation, settings);
  });
  after(async () => {
    await running.close();
    assert.deepEqual(running.errors, []);
  });

  /** On the wait page, signed in. */
  const arrive = async (browser = testBrowser()) => {
    const { query } = authorizationRequest(web.application.id, REDIRECT_URI);
    let page = await follow(browser, await browser.get(`${org.issuer}/authorize?${query}`));
    if (showsLogin(page)) page = await logIn(browser, org, page);
    if (showsConsent(page)) page = await decide(browser, org, page);
    return { browser, page, requestId: page.url.split("/").at(-1) ?? "" };
  };
  const claim = async ({ requestId }: { requestId: string }) =>
    (await agent.claim({ requestId })) ?? assert.fail("it cannot be claimed");
  const cookieOf = (browser: TestBrowser) =>
    [...browser.cookies].map(([name, value]) => `${name}=${value}`).join("; ");

  test("a passkey challenge must be the hash of the signing inputs, without extensions", async () => {
    const arrived = await arrive();
    const claimed = await claim(arrived);
    const [accessToken] = claimed.tokens;
    assert.ok(accessToken && claimed.tokens.length === 2);
    const good = { challenge: passkeyChallenge(claimed.tokens), rpId: "127.0.0.1" };
    const foreign: readonly object[] = [
      { ...good, challenge: "Y2hhbGxlbmdlIG9mIGEgc2lnbi1pbiBwYWdl" },
      { ...good, challenge: passkeyChallenge([accessToken]) },
      { ...good, challenge: passkeyChallenge([...claimed.tokens].reverse()) },
      { rpId: "127.0.0.1" },
      { ...good, extensions: { prf: { eval: { first: "AAAA" } } } },
      { ...good, allowCredentials: [{ id: "k", type: "public-key", extensions: {} }] },
    ];
    for (const publicKey of foreign) {
      const { status, body } = await agent.challenge(claimed, { type: "webauthn", publicKey });
      assert.deepEqual([status, body["error"]], [400, "invalid_request"], JSON.stringify(publicKey));
    }
    assert.match((await arrived.browser.get(`${arrived.page.url}/status`)).body, /"status":"pending"/);
    assert.equal((await agent.challenge(claimed, { type: "webauthn", publicKey: good })).status, 202);
    assert.equal(
      (await agent.challenge(claimed, { type: "webauthn", publicKey: good })).status,
      202,
      "again",
    );
    await agent.reject(claimed, "policy_denied");
  });

  test("the stream ends with its session", async () => {
    const arrived = await arrive();
    const headers = { cookie: cookieOf(arrived.browser) };
    const stream = await fetch(`${arrived.page.url}/stream`, { headers });
    assert.equal(stream.status, 200);
    const { database } = running.service;
    await sql`update browser_session set ended_at = 1 where ended_at is null`.execute(database.query);
    const claimed = await claim(arrived);
    const asked = { type: "number_match", prompt: "Type it", display: "4711" };
    assert.equal((await agent.challenge(claimed, asked)).status, 202);
    await agent.reject(claimed, "policy_denied");
    const told = await stream.text();
    assert.match(told, /event: pending/);
    assert.doesNotMatch(told, /4711|event: (?:challenge|failed)/);
  });

  test("limits the streams per request", async () => {
    const arrived = await arrive();
    const headers = { cookie: cookieOf(arrived.browser) };
    const closing = new AbortController();
    const open = () => fetch(`${arrived.page.url}/stream`, { headers, signal: closing.signal });
    // Kept: a response that nobody holds is closed.
    const streams: Response[] = [];
    for (let count = 0; count < MAX_STREAMS; count++) streams.push(await open());
    assert.ok(streams.every(({ status }) => status === 200));
    const refused = await open();
    assert.deepEqual([refused.status, refused.headers.get("retry-after")], [429, "2"]);
    assert.equal(((await refused.json()) as Record<string, unknown>)["error"], "temporarily_unavailable");
    assert.equal((await fetch(`${(await arrive()).page.url}/stream`, { headers })).status, 404);
    closing.abort();
    await eventually("one may open again", async () => {
      const again = await fetch(`${arrived.page.url}/stream`, { headers });
      await again.body?.cancel();
      return again.status === 200;
    });
  });
});
