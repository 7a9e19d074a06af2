import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setApplicationStatus } from "../../../core/applications/applications.ts";
import { listAuditEvents } from "../../../core/audit/audit.store.ts";
import { setUserDisabled } from "../../../core/users/account.store.ts";
import { setPassword, setUserStatus } from "../../../core/users/users.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { type CodeSource, codeSource, redeemWith } from "../../../testing/fakes/code-source.ts";
import { type FakeClock, fakeClock } from "../../../testing/fakes/fake-clock.ts";
import { type Answer, credentials, postForm, refresh } from "../../../testing/fixtures/client.ts";
import { assertOAuthError, sendRaw } from "../../../testing/probes/answers.ts";
import {
  makeClient,
  makeOrganisation,
  PASSWORD,
  REDIRECT_URI,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../../testing/test-service.ts";

forEachDatabase(({ fresh }) => {
  let databaseUrl: string;
  let issuerBase: string;
  let running: TestService;
  let org: TestOrganisation;
  let clock: FakeClock;
  let source: CodeSource;
  before(async () => {
    clock = fakeClock();
    databaseUrl = await fresh();
    running = await startTestService({ databaseUrl, clock });
    issuerBase = running.baseUrl;
    org = await makeOrganisation(running.service);
    source = codeSource(org);
  });
  after(() => running.close());

  const refused = (answer: Answer, about = "") => assertOAuthError(answer, 400, "invalid_grant", about);
  const active = async (token: string) =>
    (await postForm(`${org.issuer}/introspect`, { token, ...credentials(org.web) })).body["active"];

  /** Ends the server and starts a new one on the same database, with the same issuer at another port. */
  const restart = async () => {
    await running.close();
    assert.deepEqual(running.errors, []);
    running = await startTestService({ databaseUrl, clock, baseUrl: issuerBase });
    org = { ...org, issuer: `${running.baseUrl}/oauth/${org.organisation.id}` };
    source = codeSource(org);
  };

  test("gives the same successor within the grace window after a restart", async () => {
    const { refreshToken } = await source.tokens();
    const before = await refresh(org, refreshToken);
    await restart();
    clock.advance(5_000);
    const again = await refresh(org, refreshToken);
    assert.equal(again.status, 200);
    assert.equal(again.body["refresh_token"], before.body["refresh_token"]);
    assert.equal((await refresh(org, String(before.body["refresh_token"]))).status, 200);
  });

  test("revokes the family when a rotated token is reused after a restart", async () => {
    const { refreshToken, accessToken } = await source.tokens();
    const second = String((await refresh(org, refreshToken)).body["refresh_token"]);
    const third = String((await refresh(org, second)).body["refresh_token"]);
    await restart();
    refused(await refresh(org, refreshToken));
    refused(await refresh(org, third));
    assert.equal(await active(accessToken), false);
  });

  test("audits the reuse of a refresh token once, with its user", async () => {
    const { refreshToken } = await source.tokens();
    const replays = async () => {
      const events = await listAuditEvents(running.service.database.query, org.organisation.id, 200);
      return events.filter(({ action }) => action === "refresh-token.replayed");
    };
    const before = (await replays()).length;
    await refresh(org, String((await refresh(org, refreshToken)).body["refresh_token"]));
    for (let count = 0; count < 3; count++) refused(await refresh(org, refreshToken));
    const [event, ...older] = await replays();
    assert.equal(older.length, before);
    assert.equal(event?.target, org.user.id);
  });

  test("revokes a user's tokens when the user is disabled, permanently", async () => {
    const { refreshToken, accessToken } = await source.tokens({ scope: "openid offline_access" });
    const user = { orgId: org.organisation.id, id: org.user.id, actor: "test" };
    await setUserStatus(running.service, { ...user, disabled: true });
    refused(await refresh(org, refreshToken));
    await setUserStatus(running.service, { ...user, disabled: false });
    refused(await refresh(org, refreshToken));
    assert.equal(await active(accessToken), false);
  });

  test("suspends a roaming user while the home account is disabled", async () => {
    // A roaming user's home organisation disables the account; the sessions and families are this organisation's.
    const { refreshToken, accessToken } = await source.tokens({ scope: "openid offline_access" });
    const grant = await source.code();
    const user = { orgId: org.organisation.id, id: org.user.id };
    const { query } = running.service.database;
    await setUserDisabled(query, user, clock(), clock());
    refused(await refresh(org, refreshToken));
    refused(await redeemWith(org, grant));
    assert.equal(await active(accessToken), false);
    assert.equal(await active(refreshToken), false);
    const headers = { authorization: `Bearer ${accessToken}` };
    assert.equal((await sendRaw(`${org.issuer}/userinfo`, { headers })).status, 401);
    await setUserDisabled(query, user, null, clock());
    assert.equal(await active(accessToken), true);
    assert.equal((await redeemWith(org, grant)).status, 200);
    assert.equal((await refresh(org, refreshToken)).status, 200);
  });

  test("revokes an application's tokens when it is disabled, permanently", async () => {
    const client = await makeClient(running.service, org.organisation, { redirectUris: [REDIRECT_URI] });
    const { refreshToken } = await source.tokens({}, client);
    const application = { orgId: org.organisation.id, id: client.application.id, actor: "test" };
    await setApplicationStatus(running.service, { ...application, disabled: true });
    assertOAuthError(await refresh(org, refreshToken, {}, client), 401, "invalid_client");
    await setApplicationStatus(running.service, { ...application, disabled: false });
    refused(await refresh(org, refreshToken, {}, client));
  });

  test("revokes tokens on a password change", async () => {
    const { refreshToken, accessToken } = await source.tokens({ scope: "openid offline_access" });
    const change = { organisation: org.organisation, id: org.user.id, about: [], actor: "test" };
    await setPassword(running.service, { ...change, password: `${PASSWORD} two` });
    refused(await refresh(org, refreshToken));
    assert.equal(await active(accessToken), false);
    await setPassword(running.service, { ...change, password: PASSWORD });
  });

  test("revokes the session's tokens on sign-out, except those with offline_access", async () => {
    const here = await source.tokens({ scope: "openid" });
    const away = await source.tokens({ scope: "openid offline_access" });
    // A scope whose name only looks like it is not the user's absence.
    const client = await makeClient(running.service, org.organisation, {
      redirectUris: [REDIRECT_URI],
      allowedScopes: ["openid", "not_offline_access_at_all"],
    });
    const lookalike = await source.tokens({ scope: "openid not_offline_access_at_all" }, client);
    const page = await source.browser.get(`${org.issuer}/end_session`);
    await source.browser.post(`${org.issuer}/end_session`, page.hidden);
    refused(await refresh(org, here.refreshToken));
    assert.equal(await active(here.accessToken), false);
    refused(await refresh(org, lookalike.refreshToken, {}, client));
    assert.equal((await refresh(org, away.refreshToken)).status, 200);
    assert.equal(await active(away.accessToken), true);
  });
});
