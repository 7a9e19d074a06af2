/** Trusted TPM vendors and allowed endorsement keys by API v1. */
import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { after, before, test } from "node:test";
import { sha256Base64url } from "@signet/protocol/hash";
import { listAuditEvents } from "../../../core/audit/audit.store.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { softVendor } from "../../../testing/fakes/soft-tpm-device.ts";
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
  let stranger: ApiClient;
  before(async () => {
    running = await startTestService({ databaseUrl: await fresh() });
    org = await makeOrganisation(running.service);
    api = await makeApiClient(running.service, org, ["signet:devices:write"]);
    const other = await makeOrganisation(running.service, "Other");
    stranger = await makeApiClient(running.service, other, ["signet:devices:write"]);
  });
  after(async () => {
    assert.deepEqual(running.errors, []);
    await running.close();
  });

  const { publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const { root } = softVendor();
  const cases = [
    {
      path: "/device-roots",
      body: { certificate: root.pem },
      id: sha256Base64url(root.der),
      actions: ["device-root.imported", "device-root.removed"],
    },
    {
      path: "/allowed-eks",
      body: { key: publicKey.export({ format: "pem", type: "spki" }).toString(), label: "Order 4711" },
      id: sha256Base64url(publicKey.export({ format: "der", type: "spki" })),
      actions: ["device-ek.allowed", "device-ek.removed"],
    },
  ];

  for (const { path, body, id, actions } of cases)
    test(`${path}: what is there already is answered so, and what is removed is gone, here alone`, async () => {
      const made = await api.call("POST", path, { body });
      assert.deepEqual([made.status, made.body["id"]], [201, id], JSON.stringify(made.body));
      assert.ok(made.headers.get("location")?.endsWith(`${path}/${id}`));
      const again = await api.call("POST", path, { body });
      assert.deepEqual([again.status, again.body], [200, made.body]);
      assert.deepEqual((await api.call("GET", `${path}/${id}`)).body, made.body);
      const filter = encodeURIComponent(`id eq "${id}"`);
      const list = await api.call("GET", `${path}?total=true&filter=${filter}`);
      assert.deepEqual([list.body["items"], list.body["total"]], [[made.body], 1]);
      for (const method of ["GET", "DELETE"])
        assert.equal((await stranger.call(method, `${path}/${id}`)).status, 404);
      const stale = { headers: { "if-match": '"other"' } };
      assert.equal((await api.call("DELETE", `${path}/${id}`, stale)).status, 412);
      const deleted = await Promise.all([1, 2].map(() => api.call("DELETE", `${path}/${id}`)));
      assert.deepEqual(deleted.map(({ status }) => status).toSorted(), [204, 404]);
      assert.equal((await api.call("GET", `${path}/${id}`)).status, 404);
      const events = await listAuditEvents(running.service.database.query, org.organisation.id, 20);
      const told = events.filter(({ action }) => actions.includes(action)).map(({ action }) => action);
      assert.deepEqual(told.toSorted(), actions);
    });

  test("what is no certificate or key, or more than one, is refused with its member", async () => {
    for (const [path, body, member] of [
      ["/device-roots", { certificate: "x" }, "/certificate"],
      ["/device-roots", { certificate: `${root.pem}${root.pem}` }, "/certificate"],
      ["/allowed-eks", { key: root.pem }, "/key"],
      ["/allowed-eks", { key: "-----BEGIN EVIL-----" }, "/key"],
    ] as const) {
      const { status, body: problem } = await api.call("POST", path, { body });
      const [fault] = problem["errors"] as { path: string }[];
      assert.deepEqual([status, fault?.path], [422, member]);
    }
  });
});
