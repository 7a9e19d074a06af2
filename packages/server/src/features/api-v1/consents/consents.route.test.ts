/** Consents of API v1: whose they are is said by `userId`, and may be said by `kind` too. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { forEachDatabase } from "../../../testing/databases.ts";
import { fakeClock } from "../../../testing/fakes/fake-clock.ts";
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
  const clock = fakeClock();
  before(async () => {
    running = await startTestService({ databaseUrl: await fresh(), clock });
    org = await makeOrganisation(running.service);
    api = await makeApiClient(running.service, org, ["signet:applications:write"]);
  });
  after(() => running.close());

  const grant = (more: object) =>
    api.call("POST", "/consents", {
      body: { clientId: org.web.application.id, scopes: ["openid"], ...more },
    });

  test("kind agrees with userId, or names it as the fault", async () => {
    const userId = org.user.id;
    for (const [kind, more] of [
      ["user", { userId }],
      ["organisation", {}],
    ] as const) {
      const said = await grant({ ...more, kind });
      const unsaid = await grant(more);
      assert.deepEqual([said.status, said.body["kind"]], [201, kind], JSON.stringify(said.body));
      assert.deepEqual([unsaid.status, unsaid.body["id"]], [200, said.body["id"]]);
    }
    for (const wrong of [{ kind: "user" }, { kind: "organisation", userId }]) {
      const { status, body } = await grant(wrong);
      const [fault] = body["errors"] as Array<{ path: string }>;
      assert.deepEqual([status, fault?.path], [422, "/userId"]);
    }
    assert.equal((await grant({ kind: "other" })).status, 422);
  });

  test("scopes that are added move no consent in the list", async () => {
    const userId = org.user.id;
    const { body } = await grant({ userId });
    clock.advance(5_000);
    const { body: more } = await grant({ userId, scopes: ["email"] });
    assert.deepEqual([more["id"], more["createdAt"]], [body["id"], body["createdAt"]]);
    assert.deepEqual(more["scopes"], ["openid", "email"]);
    assert.ok(String(more["grantedAt"]) > String(body["grantedAt"]));
    const filter = `createdAt eq "${body["createdAt"]}" and updatedAt gt "${body["createdAt"]}"`;
    const { body: list } = await api.call("GET", `/consents?filter=${encodeURIComponent(filter)}`);
    assert.deepEqual(
      (list["items"] as Array<{ id: string }>).map(({ id }) => id),
      [body["id"]],
    );
  });
});
