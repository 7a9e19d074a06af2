import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { listAuditEvents } from "../../../core/audit/audit.store.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { type CodeSource, codeSource, redeemWith } from "../../../testing/fakes/code-source.ts";
import { type FakeClock, fakeClock } from "../../../testing/fakes/fake-clock.ts";
import { type Answer, credentials, postForm, refresh } from "../../../testing/fixtures/client.ts";
import { assertOAuthError, sendRaw } from "../../../testing/probes/answers.ts";
import {
  makeOrganisation,
  startTestService,
  type TestClient,
  type TestOrganisation,
  type TestService,
} from "../../../testing/test-service.ts";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  let clock: FakeClock;
  let source: CodeSource;
  before(async () => {
    clock = fakeClock();
    running = await startTestService({ databaseUrl: await fresh(), clock });
    org = await makeOrganisation(running.service);
    source = codeSource(org);
  });
  after(async () => {
    await running.close();
    assert.deepEqual(running.errors, []);
  });

  const refused = (answer: Answer, about = "") => assertOAuthError(answer, 400, "invalid_grant", about);
  const userinfo = async (token: unknown) =>
    (await sendRaw(`${org.issuer}/userinfo`, { headers: { authorization: `Bearer ${token}` } })).status;
  const active = async (token: unknown) => {
    const form = { token: String(token), ...credentials(org.web) };
    return (await postForm(`${org.issuer}/introspect`, form)).body["active"];
  };
  const assertEnded = async ({ body }: Answer) => {
    assert.equal(await userinfo(body["access_token"]), 401);
    assert.equal(await active(body["access_token"]), false);
    assert.equal(await active(body["refresh_token"]), false);
    refused(await refresh(org, String(body["refresh_token"])));
  };

  for (const [when, pause] of [
    ["at once", 0],
    ["30 s later", 30_000],
    ["after the code would have expired", 11 * 60_000],
  ] as const) {
    test(`a code used again ${when} is refused, and all that the first use gave stops working`, async () => {
      const grant = await source.code();
      const first = await redeemWith(org, grant);
      assert.equal(first.status, 200);
      assert.equal(await userinfo(first.body["access_token"]), 200);
      assert.equal(await active(first.body["access_token"]), true);
      clock.advance(pause);
      refused(await redeemWith(org, grant));
      await assertEnded(first);
      refused(await redeemWith(org, grant), "and a third time");
    });
  }

  test("a replay ends the tokens that came by refresh too", async () => {
    const grant = await source.code();
    const first = await redeemWith(org, grant);
    const second = await refresh(org, String(first.body["refresh_token"]));
    assert.equal(second.status, 200);
    refused(await redeemWith(org, grant));
    await assertEnded(second);
  });

  test("only a use with its proof counts: who merely saw the code ends nothing with it", async () => {
    const grant = await source.code();
    const first = await redeemWith(org, grant);
    const native: TestClient = { application: org.native, secret: "" };
    refused(await redeemWith(org, grant, { code_verifier: "x".repeat(43) }), "wrong verifier");
    refused(await redeemWith(org, grant, { code_verifier: "" }), "no verifier");
    refused(await redeemWith(org, grant, { redirect_uri: "https://evil.example/" }), "another address");
    refused(await redeemWith(org, grant, { redirect_uri: "" }, native), "another client");
    const wrong = await redeemWith(org, grant, { client_secret: "wrong" });
    assertOAuthError(wrong, 401, "invalid_client");
    assert.equal(await userinfo(first.body["access_token"]), 200);
    assert.equal((await refresh(org, String(first.body["refresh_token"]))).status, 200);
  });

  test("a public client's code is used once as well", async () => {
    const native: TestClient = { application: org.native, secret: "" };
    const grant = await source.code({}, native);
    const first = await redeemWith(org, grant, {}, native);
    assert.equal(first.status, 200);
    refused(await redeemWith(org, grant, {}, native));
    assert.equal(await userinfo(first.body["access_token"]), 401);
  });

  test("a hundred uses at once: one success, and the others end what it gave", async () => {
    const grant = await source.code();
    const answers = await Promise.all(Array.from({ length: 100 }, () => redeemWith(org, grant)));
    const [success, ...more] = answers.filter(({ status }) => status === 200);
    assert.ok(success);
    assert.equal(more.length, 0);
    for (const answer of answers) if (answer !== success) refused(answer);
    await assertEnded(success);
  });

  test("twenty codes at once are twenty successes", async () => {
    const grants = [];
    for (let count = 0; count < 20; count++) grants.push(await source.code());
    const answers = await Promise.all(grants.map((grant) => redeemWith(org, grant)));
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
    assert.equal(new Set(answers.map(({ body }) => body["refresh_token"])).size, grants.length);
  });

  test("a replay is in the audit log, once for each code, without the code", async () => {
    const replays = async () => {
      const events = await listAuditEvents(running.service.database.query, org.organisation.id, 200);
      return events.filter(({ action }) => action === "code.replayed");
    };
    const before = await replays();
    const grant = await source.code();
    await redeemWith(org, grant);
    for (let count = 0; count < 3; count++) await redeemWith(org, grant);
    const [newest, ...older] = await replays();
    assert.deepEqual(older, before);
    assert.equal(newest?.target, org.user.id);
    assert.equal(newest?.actor, `client:${org.web.application.id}`);
    assert.equal(newest?.address, "127.0.0.1");
    assert.ok(!JSON.stringify(newest).includes(grant.code.slice(7)));
  });
});
