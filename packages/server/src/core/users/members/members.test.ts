/** Members as a list that is searched by the database, and the rule that an organisation keeps an administrator. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { sql } from "kysely";
import type { KeysetPage } from "../../../db/keyset.ts";
import { migrate } from "../../../db/migrate.ts";
import { consolePages } from "../../../db/migrations/0006-console.ts";
import { type Database, openDatabase } from "../../../db/open.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { type FakeClock, fakeClock } from "../../../testing/fakes/fake-clock.ts";
import { quickPasswords } from "../../../testing/fakes/quick-passwords.ts";
import { listAuditEvents } from "../../audit/audit.store.ts";
import type { Organisation } from "../../organisations/organisation.ts";
import { createOrganisation } from "../../organisations/organisations.ts";
import { changeEmail } from "../account.store.ts";
import { LastAdministrator } from "../leaving/last-administrator.ts";
import { changeRole } from "../member-record.ts";
import { changeProfile } from "../profile/profile.ts";
import type { Role } from "../user.ts";
import { changeUsername, UsernameTaken } from "../username.ts";
import { findUser, insertMembership, insertUser } from "../users.store.ts";
import { createUser, setUserStatus } from "../users.ts";
import {
  countMembers,
  listMembers,
  type MemberFilter,
  type MemberSort,
  memberSorts,
  searchWords,
} from "./members.store.ts";

forEachDatabase(({ fresh }) => {
  let database: Database;
  let clock: FakeClock;
  let home: Organisation;
  let other: Organisation;
  const deps = () => ({ database, clock, passwords: quickPasswords });
  before(async () => {
    database = openDatabase(await fresh());
    await migrate(database);
    clock = fakeClock(1_000);
    const make = (name: string) => createOrganisation({ clock }, database.query, { name, actor: "test" });
    [home, other] = [await make("Home"), await make("Other")];
  });
  after(() => database.close());

  async function member(
    email: string,
    more: { firstname?: string; surname?: string; role?: Role; organisation?: Organisation } = {},
  ): Promise<string> {
    clock.advance(1_000);
    const { organisation = home, role = "Standard", firstname = "", surname = "" } = more;
    const person = { organisation, email, password: "plum tractor ninety", firstname, surname };
    return createUser(deps(), { ...person, role, emailVerified: true, actor: "test" });
  }
  const found = async (filter: MemberFilter, orgId = home.id) =>
    (await listMembers(database.query, orgId, { filter, limit: 100 })).map(({ email }) => email);
  const searched = (text: string) => found({ words: searchWords(text) });

  test("finds members by part of name, email address, username and PermId, case-insensitively", async () => {
    const id = await member("ANN@Search.example", { firstname: "Änne", surname: "Ørsted" });
    await member("bob@search.example", { firstname: "Bob_100%", surname: "Ox" });
    await member("ann@search.example", { organisation: other, firstname: "Änne" });
    await changeUsername(deps(), { orgId: home.id, id, username: "queen.ann", actor: "test" });
    const ann = ["ANN@Search.example"];
    for (const text of ["änne", "ÄNNE ØRSTED", "sted", "ann@SEARCH", "queen.", "Queen änne", id.slice(9, 20)])
      assert.deepEqual(await searched(text), ann, text);
    assert.deepEqual(await searched("search.example"), ["bob@search.example", ...ann], "the newest first");
    assert.deepEqual(await searched("bob_100%"), ["bob@search.example"]);
    for (const nothing of ["änne bob", "%", "_", "!", "o_x", "100%x", "' or 1=1"])
      assert.deepEqual(
        await searched(nothing),
        nothing === "%" || nothing === "_" ? ["bob@search.example"] : [],
        nothing,
      );
  });

  test("the search key follows changes of address, names and username", async () => {
    const id = await member("old@follow.example", { firstname: "Before" });
    const key = { orgId: home.id, id };
    const to = "fresh@follow.example";
    await changeEmail(database.query, { ...key, from: "old@follow.example", to, toKey: to }, 1);
    assert.deepEqual(await searched("fresh@follow"), [to]);
    const profile = { firstname: "Afterwards", surname: "", phone: null, locale: null };
    await changeProfile(deps(), { ...key, profile, actor: "test" });
    assert.deepEqual(await searched("afterwards"), [to]);
    await changeUsername(deps(), { ...key, username: "followed", actor: "test" });
    assert.deepEqual(await searched("followed"), [to]);
    for (const text of ["old@follow", "before"]) assert.deepEqual(await searched(text), []);
    await insertMembership(database.query, {
      orgId: other.id,
      userId: id,
      homeOrgId: home.id,
      role: "Standard",
      now: 1,
    });
    assert.deepEqual(await found({ words: ["afterwards"] }, other.id), [to], "where somebody roams, too");
    await changeUsername(deps(), { ...key, username: null, actor: "test" });
    assert.deepEqual(await found({ words: ["followed"] }, other.id), []);
  });

  test("members from before the migration are found, also as guests", async () => {
    const id = await member("Earlier@Upgrade.example", { firstname: "Maria", surname: "OLSEN" });
    await insertMembership(database.query, {
      orgId: other.id,
      userId: id,
      homeOrgId: home.id,
      role: "Standard",
      now: 1,
    });
    await database.query.updateTable("membership").set({ search_key: null }).execute();
    assert.deepEqual(await searched("olsen"), []);
    for (const statement of consolePages.statements)
      if (statement.includes("set search_key")) await sql.raw(statement).execute(database.query);
    for (const words of [["maria", "olsen"], ["earlier@upgrade"]])
      for (const orgId of [home.id, other.id])
        assert.deepEqual(await found({ words }, orgId), ["Earlier@Upgrade.example"]);
  });

  test("a username belongs to one user, also under concurrency", async () => {
    const [one, two] = [await member("u1@x.example"), await member("u2@x.example")];
    const wants = (id: string) =>
      changeUsername(deps(), { orgId: home.id, id, username: "wanted", actor: "test" });
    const results = await Promise.allSettled([wants(one), wants(two)]);
    const refused = results.filter(({ status }) => status === "rejected");
    assert.equal(refused.length, 1);
    assert.ok(refused[0]?.status === "rejected" && refused[0].reason instanceof UsernameTaken);
  });

  test("filters by role and status, and pages without gaps or duplicates", async () => {
    const organisation = await createOrganisation(deps(), database.query, { name: "Paged", actor: "test" });
    const orgId = organisation.id;
    const make = (email: string, role: Role = "Standard") => member(email, { organisation, role });
    await make("admin@p.example", "Administrator");
    const disabled = await make("disabled@p.example");
    await setUserStatus(deps(), { orgId, id: disabled, disabled: true, actor: "test" });
    const invited = { orgId, id: "c0ffee00-0000-4000-8000-000000000000", email: "invited@p.example" };
    const person = { ...invited, emailKey: invited.email, firstname: "", surname: "", phone: null };
    const now = clock();
    await insertUser(database.query, {
      ...person,
      emailVerifiedAt: null,
      passwordHash: null,
      role: "Standard",
      now,
    });
    const guest = await member("guest@home.example");
    await insertMembership(database.query, {
      orgId,
      userId: guest,
      homeOrgId: home.id,
      role: "Standard",
      now,
    });
    assert.deepEqual(await found({ role: "Administrator" }, orgId), ["admin@p.example"]);
    const standard = await found({ role: "Standard" }, orgId);
    assert.deepEqual(standard.toSorted(), ["disabled@p.example", "guest@home.example", "invited@p.example"]);
    assert.deepEqual(await found({ state: "disabled" }, orgId), ["disabled@p.example"]);
    assert.deepEqual(await found({ state: "invited" }, orgId), ["invited@p.example"]);
    assert.deepEqual(await found({ state: "guest" }, orgId), ["guest@home.example"]);
    assert.deepEqual((await found({ state: "active" }, orgId)).sort(), [
      "admin@p.example",
      "guest@home.example",
    ]);
    assert.deepEqual(await found({ state: "active", role: "Standard", words: ["guest"] }, orgId), [
      "guest@home.example",
    ]);
    const all = await found({}, orgId);
    const cursorOf = (sort: MemberSort, row: { id: string; createdAt: number; emailOrder: string }) => ({
      value: sort === "created" ? row.createdAt : row.emailOrder,
      id: row.id,
    });
    assert.equal(all.length, 4);
    for (const sort of memberSorts)
      for (const isDescending of [true, false]) {
        const order = { sort, isDescending };
        const whole = await listMembers(database.query, orgId, { filter: {}, page: order, limit: 100 });
        const emails = whole.map(({ email }) => email);
        if (sort === "email")
          assert.deepEqual(emails, isDescending ? [...emails].sort().reverse() : [...emails].sort());
        else assert.deepEqual(emails, isDescending ? all : all.toReversed());
        // One at a time, there and back: two that came at one moment among them.
        for (const [index, row] of whole.entries()) {
          const cursor = cursorOf(sort, row);
          const beside = async (page: KeysetPage) =>
            (
              await listMembers(database.query, orgId, { filter: {}, page: { ...order, ...page }, limit: 2 })
            ).map(({ email }) => email);
          assert.deepEqual(await beside({ isDescending, after: cursor }), emails.slice(index + 1, index + 3));
          const before = emails.slice(Math.max(0, index - 2), index);
          assert.deepEqual(await beside({ isDescending, before: cursor }), before);
        }
      }
    const count = (filter: MemberFilter, max: number) => countMembers(database.query, orgId, { filter, max });
    assert.equal(await count({}, 100), 4);
    assert.equal(await count({ state: "disabled" }, 100), 1);
    assert.equal(await count({ words: ["p.example"] }, 2), 2, "no further than it is asked to");
  });

  test("of two administrators who demote or disable each other concurrently, one stays", async () => {
    for (const act of ["demote", "disable"] as const) {
      const organisation = await createOrganisation(deps(), database.query, { name: act, actor: "test" });
      const orgId = organisation.id;
      const make = (email: string) => member(email, { organisation, role: "Administrator" });
      const [one, two] = [await make("one@l.example"), await make("two@l.example")];
      const ends = (id: string, by: string) =>
        act === "demote"
          ? changeRole(deps(), { orgId, id, role: "Standard", actor: `user:${by}` })
          : setUserStatus(deps(), { orgId, id, disabled: true, actor: `user:${by}` });
      const results = await Promise.allSettled([ends(one, two), ends(two, one)]);
      const refused = results.filter(({ status }) => status === "rejected");
      assert.equal(refused.length, 1, act);
      assert.ok(refused[0]?.status === "rejected" && refused[0].reason instanceof LastAdministrator);
      const left = results[0]?.status === "rejected" ? one : two;
      await assert.rejects(ends(left, left), LastAdministrator);
      const user = await findUser(database.query, orgId, left);
      assert.deepEqual([user?.role, user?.disabledAt], ["Administrator", null]);
    }
  });

  test("audits a role change once, with actor and address", async () => {
    const id = await member("promoted@x.example");
    const change = {
      orgId: home.id,
      id,
      role: "Administrator",
      actor: "user:a",
      address: "192.0.2.1",
    } as const;
    assert.equal(await changeRole(deps(), change), true);
    assert.equal(await changeRole(deps(), change), true);
    const events = (await listAuditEvents(database.query, home.id, 50)).filter(({ target }) => target === id);
    assert.deepEqual(
      events.map(({ action, actor, address, details }) => [action, actor, address, details]),
      [
        ["user.role-changed", "user:a", "192.0.2.1", { from: "Standard", to: "Administrator" }],
        ["user.created", "test", undefined, {}],
      ],
    );
    assert.equal(await changeRole(deps(), { ...change, orgId: other.id }), false, "another organisation's");
  });
});
