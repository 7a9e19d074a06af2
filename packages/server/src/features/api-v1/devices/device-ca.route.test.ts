/** The device CA by API v1: its generations, and a new one. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { listAuditEvents } from "../../../core/audit/audit.store.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { type ApiClient, makeApiClient } from "../../../testing/fixtures/api-client.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../../testing/test-service.ts";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  let api: ApiClient;
  before(async () => {
    running = await startTestService({ databaseUrl: await fresh() });
    org = await makeOrganisation(running.service);
    api = await makeApiClient(running.service, org, ["signet:devices:write"]);
  });
  after(async () => {
    assert.deepEqual(running.errors, []);
    await running.close();
  });

  const states = async () => {
    const { body } = await api.call("GET", "/device-ca?sort=generation");
    return (body["items"] as Array<Record<string, unknown>>).map(({ id, state }) => [id, state]);
  };

  test("a new generation issues from now on, and the old one stays to be verified", async () => {
    assert.deepEqual(await states(), [["1", "issues"]]);
    const made = await api.call("POST", "/device-ca");
    assert.deepEqual(
      [made.status, made.body["id"], made.body["state"]],
      [201, "2", "issues"],
      JSON.stringify(made.body),
    );
    assert.ok(made.headers.get("location")?.endsWith("/device-ca/2"));
    assert.deepEqual(await states(), [
      ["1", "retired"],
      ["2", "issues"],
    ]);
    assert.deepEqual((await api.call("GET", "/device-ca/2")).body, made.body);
    assert.equal((await api.call("GET", "/device-ca/3")).status, 404);
    const events = await listAuditEvents(running.service.database.query, org.organisation.id, 20);
    const { actor } = events.find(({ action }) => action === "device-ca.rotated") ?? {};
    assert.match(String(actor), /^client:[0-9a-f-]{36}$/);
  });

  test("a repeated call makes one generation, and only who may write devices makes any", async () => {
    const before = (await states()).length;
    const repeated = { headers: { "idempotency-key": "rotate-1" } };
    const answers = [
      await api.call("POST", "/device-ca", repeated),
      await api.call("POST", "/device-ca", repeated),
    ];
    assert.deepEqual(
      answers.map(({ status, body }) => [status, body["id"]]),
      [1, 2].map(() => [201, String(before + 1)]),
    );
    const reader = await makeApiClient(running.service, org, ["signet:devices:read"]);
    assert.equal((await reader.call("POST", "/device-ca")).status, 403);
    assert.equal((await api.call("POST", "/device-ca", { body: { generation: 9 } })).status, 422);
    assert.equal((await states()).length, before + 1);
  });

  test("of two rotations at once each makes its own generation, or hears of the other", async () => {
    const before = (await states()).length;
    const answers = await Promise.all([1, 2, 3].map(() => api.call("POST", "/device-ca")));
    const made = answers.filter(({ status }) => status === 201);
    for (const { status, body } of answers)
      if (status !== 201) assert.deepEqual([status, body["type"]], [409, "urn:signet:error:conflict"]);
    assert.ok(made.length > 0);
    const after = await states();
    assert.equal(after.length, before + made.length);
    assert.equal(after.filter(([, state]) => state === "issues").length, 1);
  });
});
