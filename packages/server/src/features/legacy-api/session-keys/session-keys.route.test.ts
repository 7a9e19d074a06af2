import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { forEachDatabase } from "../../../testing/databases.ts";
import { type FakeClock, fakeClock } from "../../../testing/fakes/fake-clock.ts";
import { quickPasswords } from "../../../testing/fakes/quick-passwords.ts";
import { convertedKey, makeSessionKey } from "../../../testing/fixtures/session-key.ts";
import { callApi, makeSystemAccount, type TestAccount } from "../../../testing/fixtures/system-account.ts";
import {
  makeClient,
  makeOrganisation,
  startTestService,
  type TestClient,
  type TestOrganisation,
  type TestService,
} from "../../../testing/test-service.ts";

const MINUTE = 60_000;

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let clock: FakeClock;
  let org: TestOrganisation;
  let portal: TestClient;
  before(async () => {
    clock = fakeClock();
    running = await startTestService({ databaseUrl: await fresh(), clock, passwords: quickPasswords });
    org = await makeOrganisation(running.service);
    portal = await makeClient(running.service, org.organisation, { allowPermanentKeys: true });
  });
  after(async () => {
    assert.deepEqual(running.errors, []);
    await running.close();
  });

  const newKey = (client = portal) => makeSessionKey(running.service, org, client.application);
  const keys = (rest: string, account?: TestAccount, method = "GET") =>
    callApi(`${running.baseUrl}/legacy/api/Keys/User/${rest}`, account, { method });
  const at = (milliseconds: number) => new Date(milliseconds).toISOString();

  test("a key says its kind, its application, when it ends and whose it is", async () => {
    const issuedAt = clock();
    const key = await newKey();
    clock.advance(MINUTE);
    const { status, body } = await keys(key);
    assert.equal(status, 200);
    const { User, ...rest } = body as { User: { PermId: string } };
    assert.deepEqual(rest, {
      Valid: true,
      Kind: "Service",
      ApplicationId: portal.application.id,
      ExpiresAt: at(issuedAt + 12 * 60 * MINUTE),
    });
    assert.equal(User.PermId, org.user.id);
    const validated = await callApi(`${running.baseUrl}/legacy/api/auth/validate?key=${key}`, undefined);
    assert.deepEqual(validated.body, body, "the two answers are one");
  });

  test("converted, it is another key: 201 with the key, its kind and its end; the old one goes on", async () => {
    const key = await newKey();
    const temporary = await keys(`${key}/Convert/To/UserTemp`, undefined, "POST");
    assert.equal(temporary.status, 201);
    assert.deepEqual(Object.keys(temporary.body), ["Key", "Kind", "ExpiresAt"]);
    assert.match(String(temporary.body["Key"]), /^sgn_sk_[\w-]{43}$/);
    assert.equal(temporary.body["Kind"], "UserTemp");
    assert.equal(temporary.body["ExpiresAt"], at(clock() + 15 * MINUTE));
    assert.equal(temporary.headers.get("location"), null, "an address would hold the key");
    assert.equal(temporary.headers.get("cache-control"), "no-store");
    const permanent = await keys(`${key}/Convert/To/UserPerm`, undefined, "POST");
    assert.deepEqual([permanent.status, permanent.body["ExpiresAt"]], [201, null]);
    clock.advance(15 * MINUTE);
    assert.equal((await keys(String(temporary.body["Key"]))).status, 401);
    assert.equal((await keys(key)).status, 200);
    clock.advance(30 * 24 * 60 * MINUTE);
    assert.equal((await keys(key)).status, 401);
    const { status, body } = await keys(String(permanent.body["Key"]));
    assert.deepEqual([status, body["Kind"], body["ExpiresAt"]], [200, "UserPerm", null]);
  });

  test("a temporary key becomes no other key: whoever it was handed to has it for its time", async () => {
    const handedOver = await convertedKey(running.service, await newKey(), "UserTemp");
    const web = await makeSystemAccount(running.service, org);
    for (const kind of ["UserTemp", "UserPerm"])
      for (const by of [undefined, web]) {
        const { status, body } = await keys(`${handedOver}/Convert/To/${kind}`, by, "POST");
        assert.deepEqual([status, body["type"]], [403, "urn:signet:error:temporary-key"], kind);
      }
    assert.equal((await keys(handedOver)).status, 200, "it goes on");
  });

  test("no permanent key where the application has not allowed them", async () => {
    const answer = await keys(`${await newKey(org.web)}/Convert/To/UserPerm`, undefined, "POST");
    assert.deepEqual(
      [answer.status, answer.body["type"]],
      [403, "urn:signet:error:permanent-keys-not-allowed"],
    );
  });

  test("a signature that comes along is checked, and must be of one who may act for the key's application", async () => {
    const key = await newKey();
    const own = await makeSystemAccount(running.service, org, { applicationId: portal.application.id });
    const web = await makeSystemAccount(running.service, org);
    assert.equal((await keys(key, own)).status, 200);
    assert.equal((await keys(key, web)).status, 401);
    assert.equal((await keys(key, { ...own, secret: "sgn_sa_other" })).status, 401);
    const handedOver = await convertedKey(running.service, key, "UserTemp");
    assert.equal((await keys(handedOver, web)).status, 200, "a temporary key is for handing over");
    const other = await makeOrganisation(running.service, "Other");
    const foreign = await makeSystemAccount(running.service, other, { administrator: true });
    assert.equal((await keys(handedOver, foreign)).status, 401);
  });

  test("the application that a signed call names must be the account's to ask about", async () => {
    const key = await newKey();
    const own = await makeSystemAccount(running.service, org, { applicationId: portal.application.id });
    const permission = (appId: string) => keys(`${key}/Permission/${appId}`, own);
    assert.equal((await permission(portal.application.id)).status, 200);
    assert.equal((await permission(org.web.application.id)).status, 401);
  });

  test("an application that demands signatures with its keys gets them on every call", async () => {
    const settings = { requireSignedKeyCalls: true, allowPermanentKeys: true };
    const strict = await makeClient(running.service, org.organisation, settings);
    const own = await makeSystemAccount(running.service, org, { applicationId: strict.application.id });
    const key = await newKey(strict);
    for (const [rest, method, status] of [
      [key, "GET", 200],
      [`${key}/Permission/${strict.application.id}`, "GET", 200],
      [`${key}/Convert/To/UserTemp`, "POST", 201],
      [`${key}/Convert/To/UserPerm`, "POST", 201],
    ] as const) {
      assert.equal((await keys(rest, undefined, method)).status, 401, rest);
      assert.equal((await keys(rest, own, method)).status, status, rest);
    }
    const address = `${running.baseUrl}/legacy/api/auth/validate?key=${key}`;
    assert.equal((await callApi(address, undefined)).status, 401);
    assert.equal((await callApi(address, own)).status, 200);
  });

  test("every refusal is the same answer, whatever was wrong", async () => {
    const key = await newKey();
    const dead = await newKey();
    clock.advance(5 * MINUTE);
    const bodies = new Set<string>();
    for (const wrong of [dead, key, `sgn_sk_${"A".repeat(43)}`, "x", "sgn_rt_x"]) {
      const { status, text } = await keys(wrong);
      assert.equal(status, 401);
      bodies.add(text.replace(/"instance":"[^"]*"/, ""));
    }
    assert.equal(bodies.size, 1);
  });
});
