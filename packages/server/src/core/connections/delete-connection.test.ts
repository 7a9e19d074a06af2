import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { forEachDatabase } from "../../testing/databases.ts";
import { newScimConnection } from "../../testing/fixtures/scim-connection.ts";
import { makeOrganisation, startTestService, type TestService } from "../../testing/test-service.ts";
import { listAuditEvents } from "../audit/audit.store.ts";
import { findGroup } from "../groups/groups.store.ts";
import { createGroup } from "../groups/groups.ts";
import { findScimUser } from "../provisioning/scim-users.store.ts";
import { findUser } from "../users/users.store.ts";
import { deleteConnection } from "./delete-connection.ts";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  before(async () => {
    running = await startTestService({ databaseUrl: await fresh() });
  });
  after(async () => {
    assert.deepEqual(running.errors, []);
    await running.close();
  });

  test("leaves its users and groups to the organisation, under names that nobody else has", async () => {
    const { service } = running;
    const db = service.database.query;
    const org = await makeOrganisation(service);
    const orgId = org.organisation.id;
    const scim = await newScimConnection(service, orgId);
    const other = await newScimConnection(service, orgId);
    const make = async (path: string, body: object, client = scim) => {
      const made = await client.call("POST", path, body);
      assert.equal(made.status, 201, JSON.stringify(made.body));
      return String(made.body["id"]);
    };
    const ada = await make("/Users", { userName: "ada@acme.example" });
    const gone = await make("/Users", { userName: "gone@acme.example" });
    await scim.call("DELETE", `/Users/${gone}`);
    const long = "x".repeat(256);
    const names = ["Fine", "Sales", "Taken", "Taken (Directory)", long];
    const ids = new Map<string, string>();
    for (const displayName of names)
      ids.set(
        displayName,
        await make("/Groups", {
          displayName,
          externalId: displayName.slice(0, 99),
          members: [{ value: ada }],
        }),
      );
    for (const displayName of ["SALES", "Taken", long])
      await createGroup(service, {
        orgId,
        actor: "test",
        content: { displayName, description: null, externalId: null },
      });
    const theirs = await make("/Groups", { displayName: "Fine" }, other);

    assert.equal(await deleteConnection(service, { orgId, id: scim.connection.id, actor: "test" }), true);
    const shown = [];
    for (const name of names) {
      const group = await findGroup(db, { orgId, id: ids.get(name) ?? "" });
      assert.deepEqual([group?.source, group?.connectionId, group?.memberCount], ["local", null, 1], name);
      shown.push(group?.displayName);
    }
    assert.deepEqual(shown, [
      ...["Fine", "Sales (Directory)", "Taken (Directory 2)", "Taken (Directory)"],
      `${"x".repeat(244)} (Directory)`,
    ]);
    const left = await findGroup(db, { orgId, id: theirs });
    assert.equal(left?.connectionId, other.connection.id);
    for (const id of [ada, gone]) assert.equal(await findScimUser(db, orgId, id), undefined);
    assert.deepEqual(
      [
        (await findUser(db, orgId, ada))?.disabledAt === null,
        (await findUser(db, orgId, gone))?.disabledAt === null,
      ],
      [true, false],
    );
    const events = await listAuditEvents(db, orgId, 10);
    const deleted = events.find(({ action }) => action === "connection.deleted");
    assert.deepEqual(deleted?.details, { name: "Directory", users: 2, groups: 5 });
    assert.equal(events.filter(({ action }) => action === "group.changed").length, 3);
  });

  test("at the same time as a group is made leaves no group of a connection that there is not", async () => {
    const { service } = running;
    const orgId = (await makeOrganisation(service)).organisation.id;
    const scim = await newScimConnection(service, orgId);
    const making = Array.from({ length: 8 }, (_, at) =>
      scim.call("POST", "/Groups", { displayName: `G ${at}` }),
    );
    await deleteConnection(service, { orgId, id: scim.connection.id, actor: "test" });
    await Promise.all(making);
    const rows = await service.database.query
      .selectFrom("user_group")
      .select("source")
      .where("org_id", "=", orgId)
      .execute();
    assert.ok(rows.every(({ source }) => source === "local"));
  });
});
