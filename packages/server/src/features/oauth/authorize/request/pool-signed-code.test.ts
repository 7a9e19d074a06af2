/** Codes of applications whose tokens an agent signs: quick agents, slow ones, none, and those that refuse. */
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { findConsents } from "../../../../core/consents/consents.store.ts";
import { revokeConsent } from "../../../../core/consents/consents.ts";
import type { SigningPool } from "../../../../core/signing-pools/signing-pool.ts";
import { forEachDatabase } from "../../../../testing/databases.ts";
import {
  authorizationRequest,
  authorize,
  type TestBrowser,
  type TestPage,
  testBrowser,
} from "../../../../testing/fakes/browser.ts";
import { redeemWith } from "../../../../testing/fakes/code-source.ts";
import { type FakeClock, fakeClock } from "../../../../testing/fakes/fake-clock.ts";
import { quickPasswords } from "../../../../testing/fakes/quick-passwords.ts";
import { makeAgent, makePool, setTokenWait, type TestAgent } from "../../../../testing/fixtures/agent.ts";
import { credentials, postForm } from "../../../../testing/fixtures/client.ts";
import { assertOAuthError, payloadOf } from "../../../../testing/probes/answers.ts";
import {
  makeClient,
  makeOrganisation,
  REDIRECT_URI,
  startTestService,
  type TestClient,
  type TestOrganisation,
  type TestService,
} from "../../../../testing/test-service.ts";

const API = "https://api.example";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  let clock: FakeClock;
  let pool: SigningPool;
  let agent: TestAgent;
  let web: TestClient;
  let browser: TestBrowser;
  before(async () => {
    clock = fakeClock();
    running = await startTestService({ databaseUrl: await fresh(), clock, passwords: quickPasswords });
    org = await makeOrganisation(running.service);
    pool = await makePool(running.service, org);
    agent = await makeAgent(running.service, org, pool);
    web = await makeClient(running.service, org.organisation, {
      redirectUris: [REDIRECT_URI],
      signingPoolId: pool.id,
      accessTokenLifetimeSeconds: 300,
      allowedResources: [API, `${API}/more`],
    });
    browser = testBrowser();
    await served(() => getCode());
  });
  after(() => running.close());
  beforeEach(() => setTokenWait(running.service, pool, 8));

  const served = async <T>(work: () => Promise<T>): Promise<T> => {
    const serving = agent.serve();
    return work().finally(() => serving.stop());
  };
  const request = (more: Record<string, string> = {}) =>
    authorizationRequest(web.application.id, REDIRECT_URI, more);
  /** Signed in and consented to, by an agent that signs at once. */
  async function getCode(more: Record<string, string> = {}) {
    const { query, verifier } = request(more);
    const answer = await authorize(browser, { issuer: org.issuer, query, ...org.user });
    return { code: answer.get("code") ?? assert.fail(`no code: ${answer}`), verifier, answer };
  }
  /** The page that a browser waits on, when nobody has signed in time. */
  async function waitPage(more: Record<string, string> = {}) {
    const { query, verifier } = request(more);
    const page = await browser.get(`${org.issuer}/authorize?${query}`);
    assert.equal(page.status, 303);
    const wait = page.location ?? "";
    assert.match(wait, new RegExp(`^${org.issuer}/sovereign/wait/[A-Za-z0-9_-]{32}$`));
    return { wait, verifier };
  }
  const nextClaim = async () => (await agent.claim({ wait: 2 })) ?? assert.fail("nothing to claim");
  const answerOf = ({ location = "" }: TestPage) => {
    assert.ok(location.startsWith(REDIRECT_URI), location);
    return new URL(location).searchParams;
  };

  test("a fast agent: an ordinary redirect, and the signed tokens are returned for the code", async () => {
    const grant = await served(() => getCode({ nonce: "n-1" }));
    assert.equal(grant.answer.get("iss"), `${org.issuer}/sovereign/pools/${pool.id}`);
    const { status, body } = await redeemWith(org, grant, {}, web);
    assert.equal(status, 200, "nobody has to sign now");
    assert.deepEqual(
      [payloadOf(body["id_token"])["nonce"], payloadOf(body["access_token"])["iss"]],
      ["n-1", grant.answer.get("iss")],
    );
    const introspection = { token: String(body["access_token"]), ...credentials(web) };
    assert.equal((await postForm(`${org.issuer}/introspect`, introspection)).body["active"], true);
    assertOAuthError(await redeemWith(org, grant, {}, web), 400, "invalid_grant");
    assert.equal((await postForm(`${org.issuer}/introspect`, introspection)).body["active"], false);
  });

  test("a slow agent: the browser waits on the wait page and returns to the application once", async () => {
    const { wait, verifier } = await waitPage();
    const status = async () =>
      JSON.parse((await browser.get(`${wait}/status`)).body) as Record<string, unknown>;
    assert.equal((await status())["status"], "pending");
    assert.equal((await browser.get(`${wait}/continue`)).location, wait, "not yet");
    await agent.sign(await nextClaim());
    assert.deepEqual(
      [(await status())["status"], (await status())["continueUrl"]],
      ["signed", `${wait}/continue`],
    );
    assert.equal((await testBrowser().get(`${wait}/continue`)).status, 404, "somebody else's browser");
    const code = answerOf(await browser.get(`${wait}/continue`)).get("code") ?? "";
    const again = await browser.get(`${wait}/continue`);
    assert.ok(again.location === undefined, "no second code");
    assert.equal((await redeemWith(org, { code, verifier }, {}, web)).status, 200);
  });

  test("the consent page is shown once, also with a slow agent", async () => {
    const { query } = request({ prompt: "consent" });
    const page = await browser.get(`${org.issuer}/authorize?${query}`);
    const consent = await browser.get(page.location ?? "");
    const waiting = await browser.post(`${org.issuer}/authorize`, { ...consent.hidden, decision: "allow" });
    assert.match(waiting.location ?? "", /\/sovereign\/wait\//);
    await agent.sign(await nextClaim());
    assert.ok(answerOf(await browser.get(`${waiting.location}/continue`)).get("code"));
  });

  test("an agent's rejection is shown on the page and sent to the application", async () => {
    const { wait } = await waitPage();
    await agent.reject(await nextClaim(), "policy_denied");
    assert.equal(answerOf(await browser.get(`${wait}/continue`)).get("error"), "access_denied");
  });

  test("the decision is repeated after the wait: no code for a consent revoked meanwhile", async () => {
    const { wait } = await waitPage();
    await agent.sign(await nextClaim());
    const { orgId, id: applicationId } = web.application;
    const ended = { orgId, applicationId, userId: org.user.id };
    const [consent] = await findConsents(running.service.database.query, ended);
    await revokeConsent(running.service, { orgId, id: consent?.id ?? "", actor: "test" });
    const page = await browser.get(`${wait}/continue`);
    assert.match(page.location ?? "", /\/consent\?flow=/);
    const asked = await browser.get(page.location ?? "");
    const allowed = await served(() =>
      browser.post(`${org.issuer}/authorize`, { ...asked.hidden, decision: "allow" }),
    );
    assert.ok(answerOf(allowed).get("code"));
  });

  test("prompt=none doesn't wait for an approval: a code, or temporarily_unavailable", async () => {
    const silent = await served(() => getCode({ prompt: "none" }));
    assert.equal((await redeemWith(org, silent, {}, web)).status, 200);
    await setTokenWait(running.service, pool, 0);
    const ask = async () => {
      const { query } = request({ prompt: "none" });
      return answerOf(await browser.get(`${org.issuer}/authorize?${query}`));
    };
    assert.equal((await ask()).get("error"), "temporarily_unavailable");
    const claimed = await nextClaim();
    assert.equal(claimed.interactive, false);
    const challenge = await agent.challenge(claimed);
    assert.deepEqual([challenge.status, challenge.body["error"]], [409, "not_interactive"]);
    await setTokenWait(running.service, pool, 8);
    await agent.reject(claimed, "policy_denied");
    const asking = ask();
    await agent.reject(await nextClaim(), "step_up_required");
    assert.equal((await asking).get("error"), "interaction_required");
  });

  test("a stored token with less than half of its lifetime is signed again, and without an agent the code stays valid", async () => {
    const grant = await served(() => getCode());
    clock.advance(100_000);
    const young = await redeemWith(org, await served(() => getCode()), {}, web);
    assert.equal(young.status, 200);
    clock.advance(60_000);
    const refused = await redeemWith(org, grant, {}, web);
    assert.deepEqual([refused.status, refused.headers.get("retry-after")], [503, "30"]);
    await agent.call("queue");
    const { status, body } = await served(() => redeemWith(org, grant, {}, web));
    assert.equal(status, 200);
    assert.ok(Number(body["expires_in"]) > 295, "it is new");
    const introspection = { token: String(body["access_token"]), ...credentials(web) };
    assert.equal((await postForm(`${org.issuer}/introspect`, introspection)).body["active"], true);
  });

  test("a stored token with claims that are no longer allowed is not released", async () => {
    const resources = new URLSearchParams(request({ resource: API }).parameters);
    resources.append("resource", `${API}/more`);
    const { verifier, parameters } = request();
    resources.set("code_challenge", parameters.code_challenge);
    const page = await served(() => browser.get(`${org.issuer}/authorize?${resources}`));
    const grant = { code: answerOf(page).get("code") ?? "", verifier };
    await setTokenWait(running.service, pool, 0);
    const narrowed = () => redeemWith(org, grant, { resource: API }, web);
    assert.equal((await narrowed()).status, 503, "it has to be signed");
    const claimed = await nextClaim();
    await agent.sign(claimed);
    assert.match(String(claimed.context["parentRequestId"]), /^[A-Za-z0-9_-]{32}$/);
    const { status, body } = await narrowed();
    assert.equal(status, 200);
    assert.deepEqual(payloadOf(body["access_token"])["aud"], [
      API,
      `${org.issuer}/sovereign/pools/${pool.id}`,
    ]);
  });
});
