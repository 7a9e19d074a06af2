/** HMAC calls: who signs, what is covered, what is refused; every refusal looks the same from outside. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { after, before, describe, test } from "node:test";
import { setApplicationStatus } from "../../core/applications/applications.ts";
import { listAuditEvents } from "../../core/audit/audit.store.ts";
import {
  changeSystemAccount,
  grantApplication,
  revokeSystemAccountKey,
  rotateSystemAccountKey,
  withdrawApplication,
} from "../../core/system-accounts/system-accounts.ts";
import { forEachDatabase } from "../../testing/databases.ts";
import { type FakeClock, fakeClock } from "../../testing/fakes/fake-clock.ts";
import {
  type ApiRequest,
  callApi,
  makeSystemAccount,
  type TestAccount,
} from "../../testing/fixtures/system-account.ts";
import {
  makeClient,
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../testing/test-service.ts";

describe("system accounts", () => {
  forEachDatabase(({ fresh }) => {
    let clock: FakeClock;
    let running: TestService;
    let org: TestOrganisation;
    let account: TestAccount;
    before(async () => {
      clock = fakeClock();
      running = await startTestService({ databaseUrl: await fresh(), clock });
      org = await makeOrganisation(running.service);
      account = await makeSystemAccount(running.service, org);
    });
    after(() => running.close());

    const url = () => `${running.baseUrl}/legacy/api/users/get`;
    const ask = (by: TestAccount | undefined = account, more: ApiRequest = {}) =>
      callApi(url(), by, { body: { email: org.user.email }, ...more });
    const act = () => ({ orgId: org.organisation.id, id: account.id, actor: "test" });

    async function refused(answer: ReturnType<typeof ask>, cause: string): Promise<void> {
      const { status, body } = await answer;
      assert.equal(status, 401, cause);
      const { instance, ...rest } = body;
      assert.equal(typeof instance, "string");
      assert.deepEqual(rest, {
        type: "urn:signet:error:not-authenticated",
        title: "The request is not authenticated",
        status: 401,
      });
    }
    const audited = async () =>
      (await listAuditEvents(running.service.database.query, org.organisation.id, 5))
        .filter(({ action }) => action === "system-account.refused")
        .map(({ details }) => details?.["reason"]);

    test("accepts a signed call in the form of the specification", async () => {
      const { status, body } = await ask();
      assert.equal(status, 200);
      assert.deepEqual(body, {
        Email: org.user.email,
        Firstname: "Uma",
        Surname: "User",
        PermId: org.user.id,
        OrganisationId: org.organisation.id,
        Role: "Standard",
        Phone: "+4512345678",
      });
    });

    test("accepts a signature by openssl over the raw body", async () => {
      const body = ` { "email" : "${org.user.email}" } `;
      const digest = ["dgst", "-sha256", "-hmac", account.secret, "-binary"];
      const signature = execFileSync("openssl", digest, { input: body }).toString("base64");
      const headers = {
        authorization: `${account.publicKey}:${signature}`,
        "content-type": "application/json",
      };
      const answer = await fetch(url(), { method: "POST", headers, body });
      assert.equal(answer.status, 200, "whatever the white space: the bytes are signed");
    });

    test("gives one response to a wrong key, secret or body and a missing header", async () => {
      await refused(ask({ ...account, publicKey: "01a1fd3c-484e-48bb-9893-e02106c1d59d" }), "key");
      await refused(ask({ ...account, secret: "sgn_sa_x" }), "secret");
      await refused(callApi(url(), undefined, { body: {} }), "no header");
      const headers = { authorization: `${account.publicKey}:AAAA` };
      await refused(ask(account, { headers }), "no signature");
      const signed = await ask();
      assert.equal(signed.status, 200);
    });

    test("reports a malformed body to signed callers only", async () => {
      await refused(ask({ ...account, secret: "sgn_sa_x" }, { body: "{" }), "unsigned");
      assert.equal((await ask(account, { body: "{" })).status, 400);
      const wrong = await ask(account, { body: { email: 1, extra: true } });
      assert.equal(wrong.status, 422);
      assert.deepEqual((wrong.body["errors"] as { path: string }[]).map(({ path }) => path).sort(), [
        "/email",
        "/extra",
      ]);
      const deep = await ask(account, { body: `{"email":${"[".repeat(40)}${"]".repeat(40)}}` });
      assert.equal(deep.status, 400);
      const text = await ask(account, { headers: { "content-type": "text/plain" } });
      assert.equal(text.status, 415);
    });

    test("checks time, nonce, method and target of the strict form", async () => {
      const strictAt = clock();
      assert.equal((await ask(account, { strictAt, nonce: "n-1" })).status, 200);
      await refused(ask(account, { strictAt, nonce: "n-1" }), "replayed");
      assert.deepEqual((await audited())[0], "nonce-used");
      await refused(ask(account, { strictAt: strictAt - 301_000 }), "too old");
      await refused(ask(account, { strictAt: strictAt + 302_000 }), "from the future");
      assert.equal((await ask(account, { strictAt: strictAt - 299_000 })).status, 200);
      await refused(ask(account, { headers: { "x-signet-nonce": "only" } }), "half of it");
      await refused(ask(account, { strictAt, headers: { "x-signet-timestamp": "soon" } }), "malformed");
    });

    test("accepts a nonce once across concurrent calls", async () => {
      const strictAt = clock();
      const calls = Array.from({ length: 20 }, () => ask(account, { strictAt, nonce: "at-once" }));
      const good = (await Promise.all(calls)).filter(({ status }) => status === 200);
      assert.equal(good.length, 1);
    });

    test("rejects the plain form where the account requires the strict form", async () => {
      await changeSystemAccount(running.service, { ...act(), requiresStrictSignature: true });
      await refused(ask(), "not strict");
      assert.equal((await ask(account, { strictAt: clock() })).status, 200);
      await changeSystemAccount(running.service, { ...act(), requiresStrictSignature: false });
      assert.equal((await ask()).status, 200);
    });

    test("rejects calls for another application until it is granted", async () => {
      const { application } = await makeClient(running.service, org.organisation, {});
      const body = { email: org.user.email, ApplicationId: application.id };
      await refused(ask(account, { body }), "not permitted");
      const unknown = { ...body, ApplicationId: "01a1fd3c-484e-78bb-9893-e02106c1d59d" };
      await refused(ask(account, { body: unknown }), "unknown");
      const grant = { ...act(), applicationId: application.id };
      assert.equal(await grantApplication(running.service, grant), true);
      assert.equal((await ask(account, { body })).status, 200);
      assert.equal(await withdrawApplication(running.service, grant), true);
      await refused(ask(account, { body }), "taken back");
    });

    test("rejects calls for unknown, foreign and disabled applications", async () => {
      const { service } = running;
      const other = await makeOrganisation(service, "Foreign");
      const off = await makeClient(service, org.organisation, {});
      const named = { id: off.application.id, orgId: org.organisation.id, actor: "test" };
      await grantApplication(service, { ...act(), applicationId: named.id });
      const administrator = await makeSystemAccount(service, org, { administrator: true });
      const of = (by: TestAccount, ApplicationId: string) =>
        ask(by, { body: { email: org.user.email, ApplicationId } });
      await refused(of(administrator, named.id), "an administrator's account has what it was given, no more");
      await grantApplication(service, { ...act(), id: administrator.id, applicationId: named.id });
      for (const by of [account, administrator]) {
        assert.equal((await of(by, named.id)).status, 200);
        for (const id of [other.web.application.id, randomUUID(), "x", ""]) await refused(of(by, id), id);
      }
      await setApplicationStatus(service, { ...named, disabled: true });
      for (const by of [account, administrator]) await refused(of(by, named.id), "disabled");
    });

    test("rotates keys with an overlap, and rejects them from their expiry", async () => {
      const rotation = { ...act(), label: "second", expiresAt: null, expireOthersInSeconds: 3600 };
      const { key, secret } = await rotateSystemAccountKey(running.service, rotation);
      const renewed = { ...account, publicKey: key.publicKey, secret };
      assert.equal((await ask(renewed)).status, 200);
      assert.equal((await ask()).status, 200, "the old one still works");
      clock.advance(3_601_000);
      await refused(ask(), "the old one has ended");
      assert.equal((await ask(renewed)).status, 200);
      assert.equal(
        await revokeSystemAccountKey(running.service, { ...act(), publicKey: key.publicKey }),
        true,
      );
      await refused(ask(renewed), "revoked");
      const { key: third, secret: thirdSecret } = await rotateSystemAccountKey(running.service, {
        ...act(),
        label: "third",
        expiresAt: null,
      });
      account = { ...account, publicKey: third.publicKey, secret: thirdSecret };
      assert.equal((await ask()).status, 200);
    });

    test("rejects disabled accounts and applications immediately, and audits the reason", async () => {
      await changeSystemAccount(running.service, { ...act(), disabled: true });
      await refused(ask(), "disabled");
      assert.equal((await audited())[0], "account-disabled");
      await changeSystemAccount(running.service, { ...act(), disabled: false });
      assert.equal((await ask()).status, 200);
      const application = { orgId: org.organisation.id, id: org.web.application.id, actor: "test" };
      await setApplicationStatus(running.service, { ...application, disabled: true });
      await refused(ask(), "its application is disabled");
      await setApplicationStatus(running.service, { ...application, disabled: false });
      assert.equal((await ask()).status, 200);
    });

    test("audits repeated failures once a minute", async () => {
      clock.advance(120_000);
      const before = (await listAuditEvents(running.service.database.query, org.organisation.id, 1000))
        .length;
      const wrong = { ...account, secret: "sgn_sa_x" };
      await Promise.all(Array.from({ length: 20 }, () => ask(wrong)));
      const after = (await listAuditEvents(running.service.database.query, org.organisation.id, 1000)).length;
      assert.equal(after - before, 1);
    });

    test("stores the secret sealed, and records the last use", async () => {
      await running.service.systemAccounts.flush();
      const rows = await running.service.database.query
        .selectFrom("system_account_key")
        .selectAll()
        .execute();
      assert.ok(rows.length >= 3);
      for (const row of rows) assert.doesNotMatch(row.secret, /sgn_sa_/);
      assert.ok(rows.some(({ last_used_at }) => last_used_at !== null));
      assert.deepEqual(running.errors, []);
    });
  });
});
