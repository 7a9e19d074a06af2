import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type Application, deviceCodeGrantType } from "../../../core/applications/application.ts";
import { disableApplication } from "../../../core/applications/applications.ts";
import { listAuditEvents } from "../../../core/audit/audit.store.ts";
import { removeExpired } from "../../../core/housekeeping/housekeeping.ts";
import { endSessions } from "../../../core/sessions/end-sessions.ts";
import { disableUser } from "../../../core/users/users.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { type TestBrowser, testBrowser } from "../../../testing/fakes/browser.ts";
import { type FakeClock, fakeClock } from "../../../testing/fakes/fake-clock.ts";
import { quickPasswords } from "../../../testing/fakes/quick-passwords.ts";
import { type Answer, credentials, postForm } from "../../../testing/fixtures/client.ts";
import {
  askForCodes,
  decideDeviceCode,
  makeDeviceApp,
  poll,
  showsDone,
} from "../../../testing/fixtures/device.ts";
import { withUser } from "../../../testing/fixtures/visit.ts";
import { assertOAuthError, payloadOf, sendRaw } from "../../../testing/probes/answers.ts";
import {
  makeClient,
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../../testing/test-service.ts";

const MINUTE = 60_000;

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  let clock: FakeClock;
  let tv: Application;
  let browser: TestBrowser;
  before(async () => {
    clock = fakeClock();
    running = await startTestService({
      databaseUrl: await fresh(),
      clock,
      passwords: quickPasswords,
      env: { SIGNET_RATE_LIMITS: "device-address=1000/60" },
    });
    org = await makeOrganisation(running.service);
    tv = await makeDeviceApp(running.service, org);
    browser = testBrowser();
  });
  after(async () => {
    assert.deepEqual(running.errors, []);
    await running.close();
  });

  const refused = (answer: Answer, code: string, about = "") => assertOAuthError(answer, 400, code, about);
  const approved = async (application = tv, more: Record<string, string> = {}) => {
    const codes = await askForCodes(org, application, more);
    assert.ok(showsDone(await decideDeviceCode(browser, org, codes)));
    return codes;
  };
  const refresh = (application: Application, token: unknown) =>
    postForm(`${org.issuer}/token`, {
      grant_type: "refresh_token",
      refresh_token: String(token),
      client_id: application.id,
    });
  const userinfo = async (token: unknown) =>
    (await sendRaw(`${org.issuer}/userinfo`, { headers: { authorization: `Bearer ${token}` } })).status;

  test("responds with authorization_pending until the approval, then with tokens of that sign-in", async () => {
    const codes = await askForCodes(org, tv);
    refused(await poll(org, codes), "authorization_pending");
    await decideDeviceCode(browser, org, codes);
    const { status, body } = await poll(org, codes);
    assert.equal(status, 200);
    assert.deepEqual(
      [body["token_type"], body["expires_in"], body["scope"]],
      ["Bearer", 3600, "openid profile email"],
    );
    const { sub, aud, amr, acr, sid, nonce } = payloadOf(body["id_token"]);
    assert.deepEqual(
      [sub, aud, amr, acr, nonce],
      [org.user.id, tv.id, ["pwd"], "urn:signet:acr:pwd", undefined],
    );
    assert.match(String(sid), /^[0-9a-f-]{36}$/);
    assert.equal(payloadOf(body["access_token"])["sub"], org.user.id);
    assert.equal(await userinfo(body["access_token"]), 200);
    assert.equal((await refresh(tv, body["refresh_token"])).status, 200);
  });

  test("issues no ID token without openid, and always a refresh token for the device grant", async () => {
    const strict = await makeDeviceApp(running.service, org, {
      grantTypes: [deviceCodeGrantType],
      issueRefreshTokenWithoutOfflineAccess: false,
    });
    const { body } = await poll(org, await approved(strict, { scope: "email" }));
    assert.equal(body["id_token"], undefined);
    assert.match(String(body["refresh_token"]), /^sgn_rt_/);
  });

  test("responds with slow_down to early polls, and adds 5 s each time", async () => {
    const codes = await askForCodes(org, tv);
    refused(await poll(org, codes), "authorization_pending");
    clock.advance(4_000);
    refused(await poll(org, codes), "slow_down");
    clock.advance(9_000);
    refused(await poll(org, codes), "slow_down", "10 s by now");
    clock.advance(14_000);
    refused(await poll(org, codes), "slow_down", "15 s by now");
    clock.advance(20_000);
    refused(await poll(org, codes), "authorization_pending");
    const together = await Promise.all([poll(org, codes), poll(org, codes)]);
    for (const answer of together) refused(answer, "slow_down");
  });

  test("responds with access_denied after a denial, permanently", async () => {
    const codes = await askForCodes(org, tv);
    await decideDeviceCode(browser, org, codes, "deny");
    refused(await poll(org, codes), "access_denied");
    refused(await poll(org, codes), "access_denied");
  });

  test("expires a device code after fifteen minutes and deletes it a day later", async () => {
    const [waiting, allowed, late] = [
      await askForCodes(org, tv),
      await approved(),
      await askForCodes(org, tv),
    ];
    clock.advance(15 * MINUTE - 1);
    const first = await poll(org, allowed);
    assert.equal(first.status, 200);
    refused(await poll(org, waiting), "authorization_pending");
    clock.advance(1);
    refused(await poll(org, waiting), "expired_token");
    refused(await poll(org, late), "expired_token");
    refused(await poll(org, allowed), "invalid_grant", "used before, and still known for it");
    refused(await refresh(tv, first.body["refresh_token"]), "invalid_grant");
    await removeExpired(running.service);
    refused(await poll(org, waiting), "expired_token", "still known");
    clock.advance(24 * 60 * MINUTE + 1);
    await removeExpired(running.service);
    refused(await poll(org, waiting), "invalid_grant", "forgotten");
    // The long wait has signed the person out.
    browser = testBrowser();
  });

  test("rejects unknown, malformed and foreign device codes without consuming any", async () => {
    const codes = await approved();
    const other = await makeDeviceApp(running.service, org);
    refused(await poll(org, { ...codes, application: other }), "invalid_grant", "another client");
    const box = await makeClient(running.service, org.organisation, { grantTypes: [deviceCodeGrantType] });
    const stolen = await poll(org, { ...codes, application: box.application }, credentials(box));
    refused(stolen, "invalid_grant", "a confidential client");
    const elsewhere = await makeOrganisation(running.service, "Elsewhere");
    const same = await makeDeviceApp(running.service, elsewhere);
    refused(await poll(elsewhere, { ...codes, application: same }), "invalid_grant", "another organisation");
    for (const deviceCode of ["sgn_dc_", codes.userCode, `${codes.deviceCode}x`, "sgn_ac_abc"])
      refused(await poll(org, { ...codes, deviceCode }), "invalid_grant", deviceCode);
    refused(await poll(org, { ...codes, deviceCode: "" }), "invalid_request");
    assert.equal((await poll(org, codes)).status, 200);
  });

  test("lets one of a hundred concurrent polls win, and a second use revokes its tokens", async () => {
    const codes = await approved();
    const answers = await Promise.all(Array.from({ length: 100 }, () => poll(org, codes)));
    const [success, ...more] = answers.filter(({ status }) => status === 200);
    assert.ok(success);
    assert.equal(more.length, 0);
    for (const answer of answers) if (answer !== success) refused(answer, "invalid_grant");
    assert.equal(await userinfo(success.body["access_token"]), 401);
    refused(await refresh(tv, success.body["refresh_token"]), "invalid_grant");
    const events = await listAuditEvents(running.service.database.query, org.organisation.id, 200);
    const replays = events.filter(({ action, at }) => action === "device-code.replayed" && at === clock());
    assert.deepEqual(
      replays.map(({ target }) => target),
      [org.user.id],
    );
    assert.ok(!JSON.stringify(events).includes(codes.deviceCode.slice(7)));
  });

  test("ends the device's tokens with the session that approved it, before or after redemption", async () => {
    const own = await withUser(running.service, org, "leaver@acme.example");
    const signOut = (sessionId: string) =>
      running.service.database.transaction((tx) =>
        endSessions(tx, {
          orgId: org.organisation.id,
          userId: own.user.id,
          sessionId,
          reason: "signed_out",
          now: clock(),
        }),
      );
    const person = testBrowser();
    const first = await askForCodes(own, tv);
    await decideDeviceCode(person, own, first);
    const { body } = await poll(own, first);
    const sid = String(payloadOf(body["id_token"])["sid"]);
    const [second, lasting] = [
      await askForCodes(own, tv),
      await askForCodes(own, tv, { scope: "offline_access" }),
    ];
    await decideDeviceCode(person, own, second);
    await decideDeviceCode(person, own, lasting);
    const offline = await poll(own, lasting);
    await signOut(sid);
    refused(await poll(own, second), "invalid_grant");
    refused(await refresh(tv, body["refresh_token"]), "invalid_grant");
    assert.equal(
      (await refresh(tv, offline.body["refresh_token"])).status,
      200,
      "offline_access outlives it",
    );
  });

  test("rejects a device code after its user or application was disabled", async () => {
    const { id: orgId } = org.organisation;
    const own = await withUser(running.service, org, "gone@acme.example");
    const codes = await askForCodes(own, tv);
    await decideDeviceCode(testBrowser(), own, codes);
    await disableUser(running.service, { orgId, id: own.user.id, disabled: true, actor: "test" });
    refused(await poll(own, codes), "invalid_grant");
    const flagged = await withUser(running.service, org, "flagged@acme.example");
    const waiting = await askForCodes(flagged, tv);
    await decideDeviceCode(testBrowser(), flagged, waiting);
    const { query } = running.service.database;
    // The account alone, as if nothing had ended its sessions.
    await query
      .updateTable("user_account")
      .set({ disabled_at: clock() })
      .where("id", "=", flagged.user.id)
      .execute();
    refused(await poll(flagged, waiting), "invalid_grant");
    const app = await makeDeviceApp(running.service, org);
    const theirs = await approved(app);
    await disableApplication(running.service, { orgId, id: app.id, disabled: true, actor: "test" });
    assertOAuthError(await poll(org, theirs), 401, "invalid_client");
  });
});
