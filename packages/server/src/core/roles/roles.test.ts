import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { newUuid } from "@signet/protocol/uuid";
import { type ChangeFeed, openChangeFeed } from "../../db/change-feed.ts";
import { migrate } from "../../db/migrate.ts";
import { type Database, openDatabase } from "../../db/open.ts";
import { forEachDatabase } from "../../testing/databases.ts";
import { type Directory, makeDirectory } from "../../testing/fixtures/directory.ts";
import { listAuditEvents } from "../audit/audit.store.ts";
import { listAssignments } from "./assignments.store.ts";
import { assignRole, unassignRole } from "./assignments.ts";
import { InvalidRole, MAX_PERMISSIONS, type Role } from "./role.ts";
import { findRole, listRoles } from "./roles.store.ts";
import { changeRole, createRole, deleteRole } from "./roles.ts";

forEachDatabase(({ fresh }) => {
  let database: Database;
  let changes: ChangeFeed;
  let own: Directory;
  let other: Directory;
  let shop: string;
  const clock = () => 1_800_000_000_000;
  const deps = () => ({ database, changes, clock });
  before(async () => {
    database = openDatabase(await fresh());
    await migrate(database);
    changes = await openChangeFeed(database);
    own = await makeDirectory(deps());
    other = await makeDirectory(deps());
    shop = await own.application("Shop");
  });
  after(async () => {
    await changes.close();
    await database.close();
  });

  const pathsOf =
    (...wanted: string[]) =>
    (error: unknown) => {
      assert.ok(error instanceof InvalidRole, String(error));
      assert.deepEqual(
        error.faults.map(({ path }) => path),
        wanted,
      );
      return true;
    };
  const create = (role: Partial<Pick<Role, "applicationId" | "key" | "name" | "permissions">>) =>
    createRole(deps(), {
      ...{ ...own.act, applicationId: role.applicationId === undefined ? shop : role.applicationId },
      key: role.key ?? "editor",
      content: { name: role.name ?? "Editor", description: null, permissions: role.permissions ?? [] },
    });
  const assignments = () => listAssignments(database.query, own.orgId, { isDescending: false, limit: 200 });

  test("a key is one role of its application; another application and the organisation may have it too", async () => {
    const role = await create({ key: "editor", permissions: ["page:read", "page:write", "page:read"] });
    assert.deepEqual(role.permissions, ["page:read", "page:write"]);
    await assert.rejects(create({ key: "editor" }), { code: "key-taken" });
    assert.ok(await create({ key: "editor", applicationId: await own.application("Blog") }));
    assert.ok(await create({ key: "editor", applicationId: null }));
    await assert.rejects(create({ key: "editor", applicationId: null }), { code: "key-taken" });
    const changed = await changeRole(deps(), {
      ...{ ...own.act, id: role.id },
      content: { permissions: ["page:read"], name: "Reader" },
    });
    assert.deepEqual([changed?.name, changed?.permissions, changed?.version], ["Reader", ["page:read"], 2]);
    const again = await changeRole(deps(), { ...own.act, id: role.id, content: { name: " Reader " } });
    assert.equal(again?.version, 2);
  });

  test("what no role can be is named, member by member", async () => {
    await assert.rejects(
      create({ key: "Editor", name: "", permissions: ["a:b", "a", "a:b:c", "A:b"] }),
      pathsOf("/key", "/name", "/permissions/1", "/permissions/2", "/permissions/3"),
    );
    const many = Array.from({ length: MAX_PERMISSIONS + 1 }, (_, at) => `a:${at}`);
    await assert.rejects(create({ key: "many", permissions: many }), pathsOf("/permissions"));
    const theirs = await other.application("Theirs");
    await assert.rejects(create({ key: "foreign", applicationId: theirs }), pathsOf("/applicationId"));
  });

  test("every organisation has the two built-in roles, which nobody changes, deletes or assigns", async () => {
    const page = { sort: "key", isDescending: false, limit: 100, applicationId: null } as const;
    const builtIn = (await listRoles(database.query, other.orgId, page)).filter((role) => role.builtIn);
    assert.deepEqual(
      builtIn.map(({ key }) => key),
      ["Administrator", "Standard"],
    );
    const id = builtIn[0]?.id ?? "";
    const refused = { code: "built-in" };
    await assert.rejects(changeRole(deps(), { ...other.act, id, content: { name: "Root" } }), refused);
    await assert.rejects(deleteRole(deps(), { ...other.act, id }), refused);
    await assert.rejects(other.assign(id, "user", await other.user()), refused);
    assert.equal(await findRole(database.query, { orgId: own.orgId, id }), undefined);
  });

  test("users, groups, applications and system accounts are given a role once, and lose it alone", async () => {
    const role = await own.role(shop, "clerk");
    const [user, group] = [await own.user(), await own.group("Clerks")];
    for (const [type, id] of [
      ["user", user],
      ["group", group],
      ["application", shop],
    ] as const) {
      await own.assign(role, type, id);
      await assert.rejects(own.assign(role, type, id), { code: "already-assigned" });
    }
    const [first] = (await assignments()).filter(({ roleId }) => roleId === role);
    assert.deepEqual(
      [first?.roleKey, first?.applicationId, first?.subjectType, first?.subjectId, first?.createdBy],
      ["clerk", shop, "user", user, "test"],
    );
    const of = { subjectType: "group", subjectId: group } as const;
    const [byGroup] = await listAssignments(database.query, own.orgId, { isDescending: false, limit: 9, of });
    assert.equal(await unassignRole(deps(), { ...own.act, id: byGroup?.id ?? "" }), true);
    assert.equal(await unassignRole(deps(), { ...own.act, id: byGroup?.id ?? "" }), false);
    assert.equal(await unassignRole(deps(), { ...other.act, id: first?.id ?? "" }), false);
    assert.equal((await assignments()).filter(({ roleId }) => roleId === role).length, 2);
    await changeRole(deps(), { ...own.act, id: role, content: { name: "Clerk of the shop" } });
    await deleteRole(deps(), { ...own.act, id: role });
    const events = await listAuditEvents(database.query, own.orgId, 20);
    assert.deepEqual(
      events.filter(({ target }) => target === role).map(({ action }) => action),
      [
        ...["role.deleted", "role.changed", "role.unassigned"],
        ...["role.assigned", "role.assigned", "role.assigned", "role.created"],
      ],
    );
  });

  test("a role is named by its id or by its application and key; both must agree", async () => {
    const roleId = await own.role(shop, "buyer");
    const blog = await own.application("Another blog");
    const subject = async () => ({ subjectType: "user" as const, subjectId: await own.user() });
    const assign = async (role: Parameters<typeof assignRole>[1]["role"]) =>
      assignRole(deps(), { ...own.act, role, ...(await subject()) });
    assert.equal((await assign({ applicationId: shop, roleKey: "buyer" })).roleId, roleId);
    assert.equal((await assign({ roleId, applicationId: shop, roleKey: "buyer" })).roleId, roleId);
    await assert.rejects(assign({ roleId, applicationId: blog }), pathsOf("/applicationId"));
    await assert.rejects(assign({ roleId, roleKey: "seller" }), pathsOf("/roleKey"));
    await assert.rejects(assign({ applicationId: blog, roleKey: "buyer" }), pathsOf("/roleKey"));
    await assert.rejects(assign({ applicationId: shop, roleKey: "unknown" }), pathsOf("/roleKey"));
    await assert.rejects(assign({ roleId: newUuid() }), pathsOf("/roleId"));
    await assert.rejects(assign({}), pathsOf("/roleId"));
    const theirs = await other.role(await other.application("Their shop"), "buyer");
    await assert.rejects(assign({ roleId: theirs }), pathsOf("/roleId"));
  });

  test("another organisation's subjects and roles are not there", async () => {
    const role = await own.role(shop, "guard");
    for (const [type, id] of [
      ["user", await other.user()],
      ["group", await other.group("Guards")],
      ["application", await other.application("Their app")],
      ["systemAccount", newUuid()],
    ] as const)
      await assert.rejects(own.assign(role, type, id), pathsOf("/subjectId"));
    assert.equal(await changeRole(deps(), { ...other.act, id: role, content: { name: "x" } }), undefined);
    assert.equal(await deleteRole(deps(), { ...other.act, id: role }), false);
    assert.equal((await findRole(database.query, { orgId: own.orgId, id: role }))?.name, "guard");
  });

  test("a role takes its assignments along, and so does an application its roles", async () => {
    const till = await own.application("Till");
    const [role, kept] = [await own.role(till, "cashier"), await own.role(shop, "cashier")];
    const user = await own.user();
    for (const id of [role, kept]) await own.assign(id, "user", user);
    assert.equal(await deleteRole(deps(), { ...own.act, id: kept }), true);
    assert.deepEqual(
      (await assignments()).filter(({ subjectId }) => subjectId === user).map(({ roleId }) => roleId),
      [role],
    );
    await database.query.deleteFrom("application").where("id", "=", till).execute();
    assert.equal((await assignments()).filter(({ subjectId }) => subjectId === user).length, 0);
    assert.equal(await findRole(database.query, { orgId: own.orgId, id: role }), undefined);
  });
});
