/** Operators: what they may do in every organisation, and nobody else. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { createApplication } from "../../../core/applications/applications.ts";
import { InvalidApplication } from "../../../core/applications/validation.ts";
import { GRACE_MS } from "../../../core/organisations/deletion/deletion.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { type FakeClock, fakeClock } from "../../../testing/fakes/fake-clock.ts";
import { quickPasswords } from "../../../testing/fakes/quick-passwords.ts";
import { makeApiClient, tokenFor } from "../../../testing/fixtures/api-client.ts";
import { makeOperator, type Operator } from "../../../testing/fixtures/operator.ts";
import { makeOrganisation, startTestService, type TestService } from "../../../testing/test-service.ts";

const both = ["signet:organisations:write", "signet:organisation:write", "signet:users:write"] as const;

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let clock: FakeClock;
  let operator: Operator;
  before(async () => {
    clock = fakeClock();
    running = await startTestService({ databaseUrl: await fresh(), clock, passwords: quickPasswords });
    const root = await fetch(`${running.baseUrl}/api/v1`);
    assert.deepEqual(await root.json(), { operatorsIssuer: null });
    operator = await makeOperator(running.service, both);
  });
  after(async () => {
    await running.close();
    assert.deepEqual(running.errors, []);
  });

  const make = async (name: string) => {
    const made = await operator.call("POST", "", { body: { name } });
    assert.equal(made.status, 201, JSON.stringify(made.body));
    return { id: String(made.body["id"]), made };
  };

  test("the issuer of the operators is public", async () => {
    const root = await fetch(`${running.baseUrl}/api/v1`);
    assert.deepEqual(await root.json(), {
      operatorsIssuer: `${running.baseUrl}/oauth/${operator.orgId}`,
    });
  });

  test("an organisation is made, and works at once: users are made in it with the operator's scopes", async () => {
    const { id, made } = await make("Acme");
    assert.equal(made.headers.get("location"), `${running.baseUrl}/api/v1/organisations/${id}`);
    assert.deepEqual(
      [made.body["name"], made.body["state"], made.body["deletesAt"]],
      ["Acme", "active", null],
    );
    const user = await operator.call("POST", `/${id}/users`, { body: { email: "ada@example.com" } });
    assert.equal(user.status, 201, JSON.stringify(user.body));
    const events = await running.service.database.query
      .selectFrom("audit_event")
      .select(["action", "actor"])
      .where("org_id", "=", id)
      .execute();
    for (const action of ["organisation.created", "device-ca.created", "user.created"])
      assert.equal(events.find((one) => one.action === action)?.actor, `client:${operator.clientId}`);
    assert.equal((await operator.call("GET", `/${id}/applications`)).status, 403);
  });

  test("suspended, its issuer is gone; resumed, it is back; either can be asked for again", async () => {
    const { id } = await make("Pause");
    const discovery = async () =>
      (await fetch(`${running.baseUrl}/oauth/${id}/.well-known/openid-configuration`)).status;
    assert.equal(await discovery(), 200);
    for (let times = 0; times < 2; times += 1) {
      const { status, body } = await operator.call("POST", `/${id}/suspend`);
      assert.deepEqual([status, body["state"]], [200, "suspended"]);
    }
    assert.equal(await discovery(), 404);
    const read = await operator.call("GET", `/${id}`);
    assert.deepEqual([read.status, read.body["state"]], [200, "suspended"]);
    for (let times = 0; times < 2; times += 1) {
      const { status, body } = await operator.call("POST", `/${id}/resume`);
      assert.deepEqual([status, body["state"]], [200, "active"]);
    }
    assert.equal(await discovery(), 200);
  });

  test("deleted, it has thirty days, in which it is restored as it was", async () => {
    const { id } = await make("Leaves");
    await operator.call("POST", `/${id}/suspend`);
    clock.advance(1_000);
    const deleted = await operator.call("DELETE", `/${id}`);
    const deletesAt = new Date(clock() + GRACE_MS).toISOString();
    assert.deepEqual(
      [deleted.status, deleted.body["state"], deleted.body["deletesAt"]],
      [202, "deleting", deletesAt],
    );
    clock.advance(60_000);
    assert.equal((await operator.call("DELETE", `/${id}`)).body["deletesAt"], deletesAt);
    for (const act of ["suspend", "resume"])
      assert.equal((await operator.call("POST", `/${id}/${act}`)).status, 409);
    for (let times = 0; times < 2; times += 1) {
      const restored = await operator.call("POST", `/${id}/restore`);
      assert.deepEqual([restored.status, restored.body["state"]], [200, "suspended"]);
    }
  });

  test("the list has every organisation but the operators' own, filtered by state", async () => {
    const { id } = await make("Listed");
    const list = async (query = "") =>
      ((await operator.call("GET", `?limit=200${query}`)).body["items"] as { id: string }[]).map(
        (one) => one.id,
      );
    assert.ok((await list()).includes(id));
    assert.ok(!(await list()).includes(operator.orgId));
    const suspended = `&filter=${encodeURIComponent('state eq "suspended"')}`;
    assert.ok(!(await list(suspended)).includes(id));
    await operator.call("POST", `/${id}/suspend`);
    assert.ok((await list(suspended)).includes(id));
  });

  test("nobody ends the operators' own organisation by the API", async () => {
    for (const [method, rest] of [
      ["POST", "/suspend"],
      ["DELETE", ""],
    ] as const)
      assert.equal((await operator.call(method, `/${operator.orgId}${rest}`)).status, 409);
  });

  test("an unknown organisation is 404, a stale one 412", async () => {
    const unknown = "01998d6e-0000-7000-8000-000000000000";
    assert.equal((await operator.call("POST", `/${unknown}/suspend`)).status, 404);
    assert.equal((await operator.call("GET", `/${unknown}/users`)).status, 404);
    const { id } = await make("Tagged");
    const headers = { "if-match": '"x"' };
    assert.equal((await operator.call("POST", `/${id}/suspend`, { headers })).status, 412);
    assert.equal((await operator.call("DELETE", `/${id}`, { headers })).status, 412);
  });

  test("another organisation's client gets the operators' scopes in no way", async () => {
    const org = await makeOrganisation(running.service);
    const orgId = org.organisation.id;
    const settings = {
      grantTypes: ["client_credentials"] as const,
      allowedScopes: ["signet:organisations:write"],
    };
    await assert.rejects(
      createApplication(running.service, {
        ...{ orgId, name: "Greedy", clientType: "confidential", settings, actor: "test" },
      }),
      InvalidApplication,
    );
    // As if the check above had not been there: the token says so, and it counts for nothing.
    const api = await makeApiClient(running.service, org, ["signet:organisation:write"]);
    const { query } = running.service.database;
    const row = await query
      .selectFrom("application")
      .select("settings")
      .where("org_id", "=", orgId)
      .where("id", "=", api.application.id)
      .executeTakeFirstOrThrow();
    const raised = { ...(JSON.parse(row.settings) as object), allowedScopes: settings.allowedScopes };
    await query
      .updateTable("application")
      .set({ settings: JSON.stringify(raised) })
      .where("org_id", "=", orgId)
      .where("id", "=", api.application.id)
      .execute();
    await running.service.changes.publish(query, { orgId, topic: "application" });
    const accessToken = await tokenFor(org, api);
    assert.equal((await operator.call("GET", "", { accessToken })).status, 403);
    assert.equal((await operator.call("POST", `/${orgId}/suspend`, { accessToken })).status, 403);
    const { id } = await make("Other");
    assert.equal((await operator.call("POST", `/${id}/suspend`, { accessToken })).status, 404);
    assert.equal((await operator.call("GET", `/${id}`, { accessToken })).status, 404);
  });

  test("an operator hands out no more than it holds, in any organisation", async () => {
    const { id } = await make("Held");
    const narrow = await makeOperator(running.service, ["signet:applications:write"]);
    const client = (scope: string) => ({
      body: {
        ...{ name: "Job", clientType: "confidential", grantTypes: ["client_credentials"] },
        allowedScopes: [scope],
      },
    });
    for (const [orgId, scope] of [
      [id, "signet:users:write"],
      [narrow.orgId, "signet:organisations:write"],
    ] as const) {
      const refused = await narrow.call("POST", `/${orgId}/applications`, client(scope));
      assert.deepEqual([refused.status, refused.body["type"]], [403, "urn:signet:error:exceeds-caller"]);
    }
    const allowed = await narrow.call("POST", `/${id}/applications`, client("signet:applications:read"));
    assert.equal(allowed.status, 201, JSON.stringify(allowed.body));
  });
});
