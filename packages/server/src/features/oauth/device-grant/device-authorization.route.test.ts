import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { sql } from "kysely";
import { type Application, deviceCodeGrantType } from "../../../core/applications/application.ts";
import { setApplicationStatus } from "../../../core/applications/applications.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { type FakeClock, fakeClock } from "../../../testing/fakes/fake-clock.ts";
import { credentials, postForm } from "../../../testing/fixtures/client.ts";
import { askForCodes, makeDeviceApp } from "../../../testing/fixtures/device.ts";
import { assertOAuthError } from "../../../testing/probes/answers.ts";
import {
  makeClient,
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../../testing/test-service.ts";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  let clock: FakeClock;
  let tv: Application;
  before(async () => {
    clock = fakeClock();
    running = await startTestService({ databaseUrl: await fresh(), clock });
    org = await makeOrganisation(running.service);
    tv = await makeDeviceApp(running.service, org, { allowedResources: ["https://api.example"] });
  });
  after(async () => {
    assert.deepEqual(running.errors, []);
    await running.close();
  });

  const device = (form: Record<string, string>) => postForm(`${org.issuer}/device`, form);

  test("responds as RFC 8628 §3.2 defines, uncacheable", async () => {
    const answer = await device({ client_id: tv.id, scope: "openid" });
    assert.equal(answer.status, 200);
    assert.equal(answer.headers.get("cache-control"), "no-store");
    const { device_code, user_code, ...rest } = answer.body;
    assert.match(String(device_code), /^sgn_dc_[A-Za-z0-9_-]{43}$/);
    assert.match(String(user_code), /^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/);
    assert.deepEqual(rest, {
      verification_uri: `${org.issuer}/device/verify`,
      verification_uri_complete: `${org.issuer}/device/verify?user_code=${user_code}`,
      expires_in: 900,
      interval: 5,
    });
  });

  test("stores hashes of device code and user code only", async () => {
    const { deviceCode, userCode } = await askForCodes(org, tv);
    const { rows } = await sql`select * from device_authorization`.execute(running.service.database.query);
    const kept = JSON.stringify(rows);
    for (const secret of [deviceCode, userCode, userCode.replace("-", "")]) assert.ok(!kept.includes(secret));
  });

  test("authenticates confidential clients at the device authorization endpoint as at the token endpoint", async () => {
    const box = await makeClient(running.service, org.organisation, { grantTypes: [deviceCodeGrantType] });
    assert.equal((await device(credentials(box))).status, 200);
    assertOAuthError(await device({ client_id: box.application.id }), 401, "invalid_client");
    assertOAuthError(await device({ ...credentials(box), client_secret: "wrong" }), 401, "invalid_client");
  });

  test("rejects unknown, disabled and foreign clients and clients without the device grant", async () => {
    const gone = await makeDeviceApp(running.service, org);
    await setApplicationStatus(running.service, {
      orgId: org.organisation.id,
      id: gone.id,
      disabled: true,
      actor: "test",
    });
    const other = await makeOrganisation(running.service, "Elsewhere");
    const foreign = await makeDeviceApp(running.service, other);
    for (const client_id of [gone.id, foreign.id, "nobody", ""])
      assertOAuthError(await device({ client_id }), 401, "invalid_client");
    assertOAuthError(await device({ client_id: org.native.id }), 400, "unauthorized_client");
  });

  test("checks scopes, resources and repeated parameters as at authorize", async () => {
    const of = (more: Record<string, string>) => device({ client_id: tv.id, ...more });
    assertOAuthError(await of({ scope: "admin unknown" }), 400, "invalid_scope");
    assertOAuthError(await of({ resource: "https://other.example" }), 400, "invalid_target");
    assert.equal((await of({ resource: "https://api.example" })).status, 200);
    const twice = await fetch(`${org.issuer}/device`, {
      method: "POST",
      body: new URLSearchParams([
        ["client_id", tv.id],
        ["scope", "openid"],
        ["scope", "email"],
      ]),
    });
    assert.equal(twice.status, 400);
  });

  test("limits device authorization requests by address and minute", async () => {
    clock.advance(61_000);
    const answers = await Promise.all(Array.from({ length: 65 }, () => device({ client_id: tv.id })));
    const refused = answers.filter(({ status }) => status !== 200);
    assert.equal(refused.length, 5);
    for (const answer of refused) {
      assertOAuthError(answer, 429, "temporarily_unavailable");
      assert.ok(Number(answer.headers.get("retry-after")) > 0);
      assert.match(answer.headers.get("ratelimit-policy") ?? "", /"device-address";q=60;w=60/);
    }
    const codes = answers.flatMap(({ body }) => body["user_code"] ?? []);
    assert.equal(new Set(codes).size, 60);
    clock.advance(61_000);
    assert.equal((await device({ client_id: tv.id })).status, 200);
  });
});
