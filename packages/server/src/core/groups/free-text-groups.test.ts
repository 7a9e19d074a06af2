import assert from "node:assert/strict";
import { after, test } from "node:test";
import { sql } from "kysely";
import { migrate } from "../../db/migrate.ts";
import { timeline } from "../../db/migrations/timeline.ts";
import { type Database, openDatabase } from "../../db/open.ts";
import { forEachDatabase } from "../../testing/databases.ts";
import { listRoles } from "../roles/roles.store.ts";
import { findUser } from "../users/users.store.ts";
import { listGroups } from "./groups.store.ts";

forEachDatabase(({ empty }) => {
  const opened: Database[] = [];
  after(() => Promise.all(opened.map((database) => database.close())));

  test("names of groups that memberships had as text become local groups, and organisations get the built-in roles", async () => {
    const database = openDatabase(await empty(), 2);
    opened.push(database);
    const db = database.query;
    const names = timeline.map(({ name }) => name);
    const before = names.slice(0, names.indexOf("0032-groups-roles"));
    await migrate(database, undefined, before);
    const orgs = ["01998d6e-0000-7000-8000-00000000000a", "01998d6e-0001-7000-8000-00000000000a"] as const;
    for (const orgId of orgs)
      await sql`insert into organisation (id, name, settings, created_at) values (${orgId}, 'Acme', '{}', 7)`.execute(
        db,
      );
    const member = async (orgId: string, userId: string, groups: readonly string[] | null) => {
      await sql`insert into user_account (org_id, id, email, email_key, firstname, surname, created_at, updated_at)
        values (${orgId}, ${userId}, ${userId}, ${userId}, '', '', 1, 1)`.execute(db);
      await sql`insert into membership (org_id, user_id, home_org_id, role, created_at, "groups")
        values (${orgId}, ${userId}, ${orgId}, 'Standard', 1, ${groups && JSON.stringify(groups)})`.execute(
        db,
      );
    };
    await member(orgs[0], "ada", ["Staff", "cooks", " "]);
    await member(orgs[0], "bob", ["STAFF ", "staff"]);
    await member(orgs[0], "cay", null);
    await member(orgs[0], "dan", []);
    await member(orgs[1], "eve", ["Staff"]);
    await migrate(database);
    const groupsOf = async (orgId: string, id: string) => (await findUser(db, orgId, id))?.membership.groups;
    assert.deepEqual(await groupsOf(orgs[0], "ada"), ["cooks", "Staff"]);
    assert.deepEqual(await groupsOf(orgs[0], "bob"), ["Staff"]);
    assert.deepEqual(await groupsOf(orgs[0], "cay"), []);
    assert.deepEqual(await groupsOf(orgs[0], "dan"), []);
    assert.deepEqual(await groupsOf(orgs[1], "eve"), ["Staff"]);
    const page = { sort: "displayName", isDescending: false, limit: 10 } as const;
    const listed = await listGroups(db, orgs[0], page);
    assert.deepEqual(
      listed.map(({ displayName, memberCount, source }) => [displayName, memberCount, source]),
      [
        ["cooks", 1, "local"],
        ["Staff", 2, "local"],
      ],
    );
    for (const orgId of orgs) {
      const roles = await listRoles(db, orgId, { sort: "key", isDescending: false, limit: 10 });
      assert.deepEqual(
        roles.map(({ key, builtIn, createdAt }) => [key, builtIn, createdAt]),
        [
          ["Administrator", true, 7],
          ["Standard", true, 7],
        ],
      );
      assert.ok(roles.every(({ id }) => id.startsWith(orgId.slice(0, 24))));
    }
  });
});
