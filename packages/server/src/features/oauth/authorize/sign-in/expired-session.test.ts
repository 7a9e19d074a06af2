/** A session that nobody ends runs out by itself; the applications that got tokens from it go on until somebody signs out. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { removeExpired } from "../../../../core/housekeeping/housekeeping.ts";
import { forEachDatabase } from "../../../../testing/databases.ts";
import { type TestBrowser, testBrowser } from "../../../../testing/fakes/browser.ts";
import { type CodeSource, codeSource } from "../../../../testing/fakes/code-source.ts";
import { type FakeClock, fakeClock } from "../../../../testing/fakes/fake-clock.ts";
import { quickPasswords } from "../../../../testing/fakes/quick-passwords.ts";
import { refresh } from "../../../../testing/fixtures/client.ts";
import { answerOf, visit, withUser } from "../../../../testing/fixtures/visit.ts";
import {
  makeClient,
  makeOrganisation,
  REDIRECT_URI,
  startTestService,
  type TestClient,
  type TestOrganisation,
  type TestService,
} from "../../../../testing/test-service.ts";

const BYE = "https://app.example/bye";
const HOUR = 3_600_000;

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  let clock: FakeClock;
  let client: TestClient;
  before(async () => {
    clock = fakeClock();
    running = await startTestService({ databaseUrl: await fresh(), passwords: quickPasswords, clock });
    org = await makeOrganisation(running.service);
    client = await makeClient(running.service, org.organisation, {
      redirectUris: [REDIRECT_URI],
      postLogoutRedirectUris: [BYE],
      backchannelLogoutUri: "https://app.example/logout",
    });
  });
  after(async () => {
    assert.deepEqual(running.errors, []);
    await running.close();
  });

  interface Run {
    readonly source: CodeSource;
    readonly idToken: string;
    /** Granted for as long as the session, and for the user's absence. */
    readonly here: string;
    readonly away: string;
  }
  const start = async (): Promise<Run> => {
    const source = codeSource(org);
    const here = await source.tokens({ scope: "openid" }, client);
    const away = await source.tokens({ scope: "openid offline_access" }, client);
    return { source, idToken: here.idToken, here: here.refreshToken, away: away.refreshToken };
  };
  const signOut = async (from: TestBrowser, idToken: string) => {
    const query = new URLSearchParams({ id_token_hint: idToken, post_logout_redirect_uri: BYE });
    assert.equal((await from.get(`${org.issuer}/end_session?${query}`)).location, BYE);
  };
  const works = async (token: string) => (await refresh(org, token, {}, client)).status === 200;
  const lives = async ({ source }: Run) => {
    const more = { scope: "openid", prompt: "none" };
    const silent = await visit(source.browser, org, { clientId: client.application.id, more });
    return answerOf(silent).has("code");
  };
  const told = async () => {
    const { query } = running.service.database;
    return (await query.selectFrom("logout_delivery").select("session_id").execute()).length;
  };

  test("an expired session notifies no application and ends no tokens", async () => {
    const { source, here } = await start();
    const before = await told();
    clock.advance(3 * HOUR);
    const silent = await visit(source.browser, org, { more: { prompt: "none" } });
    assert.equal(answerOf(silent).get("error"), "login_required");
    await removeExpired(running.service);
    assert.equal(await told(), before);
    assert.ok(await works(here));
  });

  for (const [whose, browserOf] of [
    ["the browser that it was in", ({ source }: Run) => source.browser],
    ["one that has forgotten it", () => testBrowser()],
  ] as const)
    test(`a later sign-out revokes the tokens of the expired session and notifies the applications, from ${whose}`, async () => {
      const run = await start();
      clock.advance(3 * HOUR);
      const before = await told();
      await signOut(browserOf(run), run.idToken);
      assert.equal(await works(run.here), false);
      assert.ok(await works(run.away), "what was granted for the user's absence");
      assert.equal(await told(), before + 1);
      await signOut(browserOf(run), run.idToken);
      assert.equal(await told(), before + 1, "once");
    });

  test("a sign-out of the next session also ends the expired one", async () => {
    const run = await start();
    clock.advance(3 * HOUR);
    await run.source.tokens({ scope: "openid" }, client);
    const before = await told();
    await signOut(run.source.browser, run.idToken);
    assert.equal(await works(run.here), false);
    assert.equal(await told(), before + 2);
  });

  test("a sign-out ends the tokens of a session that housekeeping has removed", async () => {
    const run = await start();
    let token = run.here;
    for (let round = 0; round < 3; round++) {
      clock.advance(15 * HOUR);
      token = String((await refresh(org, token, {}, client)).body["refresh_token"]);
    }
    await removeExpired(running.service);
    await signOut(testBrowser(), run.idToken);
    assert.equal(await works(token), false);
  });

  test("a genuine hint without the session's cookie ends that session, and tells its applications", async () => {
    const run = await start();
    const before = await told();
    await signOut(testBrowser(), run.idToken);
    assert.equal(await told(), before + 1);
    assert.equal(await works(run.here), false);
    assert.ok(await works(run.away), "what was granted for the user's absence");
    assert.equal(await lives(run), false);
  });

  test("another user's browser is asked before anything ends, and ends both sessions", async () => {
    const run = await start();
    const ottos = codeSource(await withUser(running.service, org, "otto@acme.example"));
    await ottos.tokens({ scope: "openid" }, client);
    const query = new URLSearchParams({ id_token_hint: run.idToken, post_logout_redirect_uri: BYE });
    const page = await ottos.browser.get(`${org.issuer}/end_session?${query}`);
    assert.match(page.body, /id="logout-confirm"/);
    assert.ok(await lives(run));
    assert.equal((await ottos.browser.post(`${org.issuer}/end_session`, page.hidden)).location, BYE);
    assert.equal(await lives(run), false, "the application is told that the user is signed out");
  });
});
