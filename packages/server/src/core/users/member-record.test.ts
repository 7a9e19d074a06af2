/** An operator's command and an administrator's form on one member: the later waits for the earlier. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { migrate } from "../../db/migrate.ts";
import { type Database, openDatabase } from "../../db/open.ts";
import { asAnotherRequest } from "../../db/transaction-scope.ts";
import { forEachDatabase } from "../../testing/databases.ts";
import { eventually } from "../../testing/eventually.ts";
import { quickPasswords } from "../../testing/fakes/quick-passwords.ts";
import { isStatementBlocked } from "../../testing/probes/blocked-statements.ts";
import { createOrganisation } from "../organisations/organisations.ts";
import { lockUserAccount } from "./account.store.ts";
import { changeMemberRecord } from "./member-record.ts";
import { findUser } from "./users.store.ts";
import { createUser } from "./users.ts";

forEachDatabase(({ name, fresh }) => {
  let database: Database;
  const clock = () => 1_800_000_000_000;
  before(async () => {
    database = openDatabase(await fresh());
    await migrate(database);
  });
  after(() => database.close());

  test("waits for a transaction that has locked the account", async () => {
    const organisation = await createOrganisation({ clock }, database.query, { name: "Acme", actor: "test" });
    const deps = { database, clock, passwords: quickPasswords };
    const person = { email: "ada@acme.example", password: "plum tractor ninety", firstname: "", surname: "" };
    const made = { ...person, organisation, role: "Standard", emailVerified: true, actor: "test" } as const;
    const key = { orgId: organisation.id, id: await createUser(deps, made) };
    const record = { membership: { groups: ["night shift"], attributes: {} } };
    const groups = async (db = database.query) =>
      (await findUser(db, key.orgId, key.id))?.membership.groups ?? [];
    let changed: Promise<boolean> | undefined;
    await database.transaction(async (tx) => {
      await lockUserAccount(tx, { homeOrgId: key.orgId, id: key.id }, clock());
      changed = asAnotherRequest(() => changeMemberRecord(deps, { ...key, record, actor: "operator" }));
      if (name === "postgres")
        await eventually("the command waits for the form", () => isStatementBlocked(database.query));
      assert.deepEqual(await groups(tx), []);
    });
    assert.equal(await changed, true);
    assert.deepEqual(await groups(), ["night shift"]);
  });
});
