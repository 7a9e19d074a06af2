/** Guests, whose accounts are another organisation's: what lists and sign-ins say of them is read from their homes. */
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { sql } from "kysely";
import { migrate } from "../../../db/migrate.ts";
import { type Database, openDatabase } from "../../../db/open.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { type FakeClock, fakeClock } from "../../../testing/fakes/fake-clock.ts";
import { quickPasswords } from "../../../testing/fakes/quick-passwords.ts";
import { countStatements } from "../../../testing/probes/counted-statements.ts";
import type { Organisation } from "../../organisations/organisation.ts";
import { setOrganisationDisabled } from "../../organisations/organisations.store.ts";
import { createOrganisation } from "../../organisations/organisations.ts";
import { setUserDisabled } from "../account.store.ts";
import type { Role } from "../user.ts";
import {
  findSignInAccount,
  findUser,
  findUserIdsByEmail,
  findUsers,
  insertMembership,
} from "../users.store.ts";
import { createUser } from "../users.ts";
import { listActiveAdministrators } from "./administrators.store.ts";
import { listGuests } from "./guests.store.ts";
import { findMemberNames } from "./member-names.store.ts";
import { countMembers, listMembers, type MemberState } from "./members.store.ts";

forEachDatabase(({ name, fresh }) => {
  let database: Database;
  let clock: FakeClock;
  let host: Organisation;
  let homes: Organisation[];
  const statements = countStatements();
  before(async () => {
    database = openDatabase(await fresh(), 2, statements.dialect);
    await migrate(database);
    clock = fakeClock(1_000);
  });
  beforeEach(async () => {
    const make = (name: string) => createOrganisation({ clock }, database.query, { name, actor: "test" });
    [host, homes] = [await make("Host"), [await make("One"), await make("Two")]];
  });
  after(() => database.close());

  const db = () => database.query;
  async function member(email: string, organisation = host, role: Role = "Standard"): Promise<string> {
    clock.advance(1_000);
    const person = { organisation, email, password: "plum tractor ninety", firstname: "Uma", surname: "" };
    const deps = { database, clock, passwords: quickPasswords };
    return createUser(deps, { ...person, role, emailVerified: true, actor: "test" });
  }
  async function guest(email: string, home: Organisation | undefined, role: Role = "Standard") {
    assert.ok(home);
    const userId = await member(email, home);
    const where = { orgId: host.id, userId, homeOrgId: home.id, role, now: clock() };
    assert.ok(await insertMembership(db(), where));
    return userId;
  }
  const emails = async (state: MemberState) => {
    const filter = { state };
    const listed = await listMembers(db(), host.id, { filter, limit: 10 });
    assert.equal(await countMembers(db(), host.id, { filter, max: 10 }), listed.length, state);
    return listed.map(({ email }) => email).toSorted();
  };

  test("a list by status knows who is disabled at home, and whose home is", async () => {
    await member("own@host.example");
    const off = await guest("off@one.example", homes[0]);
    await guest("on@one.example", homes[0]);
    await guest("far@two.example", homes[1]);
    assert.ok(await setUserDisabled(db(), { orgId: homes[0]?.id ?? "", id: off }, 5, 5));
    assert.ok(await setOrganisationDisabled(db(), homes[1]?.id ?? "", 6));
    assert.deepEqual(await emails("active"), ["on@one.example", "own@host.example"]);
    assert.deepEqual(await emails("disabled"), ["far@two.example", "off@one.example"]);
    assert.deepEqual(await emails("guest"), ["far@two.example", "off@one.example", "on@one.example"]);
    assert.deepEqual(await emails("invited"), []);
    const listed = await listMembers(db(), host.id, { filter: {}, limit: 10 });
    assert.deepEqual(
      listed.map(({ email, disabledAt, home }) => [email, disabledAt, home?.name]),
      [
        ["far@two.example", 6, "Two"],
        ["on@one.example", null, "One"],
        ["off@one.example", 5, "One"],
        ["own@host.example", null, undefined],
      ],
    );
  });

  test("the guest who joined first signs in with an address, unless it is the organisation's own", async () => {
    const first = await guest("uma@acme.example", homes[0]);
    const second = await guest("uma@acme.example", homes[1]);
    await guest("uma@acme.example.org", homes[1]);
    const found = async () => (await findSignInAccount(db(), host.id, "uma@acme.example"))?.user;
    const user = await found();
    assert.deepEqual([user?.id, user?.homeOrgId, user?.orgId], [first, homes[0]?.id, host.id]);
    assert.deepEqual(await findUserIdsByEmail(db(), host.id, "uma@acme.example", 10), [first, second]);
    const own = await member("uma@acme.example");
    assert.equal((await found())?.id, own);
    assert.deepEqual(await findUserIdsByEmail(db(), host.id, "uma@acme.example", 10), [own, first, second]);
  });

  test("a sign-in takes as many statements whoever the address belongs to", async () => {
    await guest("far@one.example", homes[0]);
    await member("own@host.example");
    const statementsFor = async (email: string) => {
      statements.take();
      await findSignInAccount(db(), host.id, email);
      return statements.take().length;
    };
    const counts = [];
    for (const email of ["far@one.example", "own@host.example", "nobody@x.example"])
      counts.push(await statementsFor(email));
    assert.deepEqual(counts, [3, 3, 3]);
  });

  test("a member of the organisation itself is one statement, as ever", async () => {
    const own = await member("own@host.example");
    const far = await guest("far@one.example", homes[0]);
    const statementsFor = async (id: string) => {
      statements.take();
      assert.equal((await findUser(db(), host.id, id))?.id, id);
      return statements.take().length;
    };
    assert.deepEqual([await statementsFor(own), await statementsFor(far)], [1, 2]);
  });

  test("names, users and administrators are of both kinds; an account that has ended is nobody's", async () => {
    const own = await member("own@host.example", host, "Administrator");
    const far = await guest("far@one.example", homes[0], "Administrator");
    const off = await guest("off@two.example", homes[1], "Administrator");
    await setUserDisabled(db(), { orgId: homes[1]?.id ?? "", id: off }, 5, 5);
    const names = await findMemberNames(db(), host.id, [own, far, off, "nobody"]);
    assert.deepEqual(
      [own, far, off, "nobody"].map((id) => names.get(id)?.email),
      ["own@host.example", "far@one.example", "off@two.example", undefined],
    );
    const users = await findUsers(db(), host.id, [own, far]);
    assert.deepEqual(new Set(users.map(({ homeOrgId }) => homeOrgId)), new Set([host.id, homes[0]?.id]));
    const administrators = async (limit: number) =>
      (await listActiveAdministrators(db(), host.id, { limit })).map(({ id }) => id);
    assert.deepEqual(await administrators(9), [own, far]);
    assert.deepEqual(await administrators(1), [own]);
    await db().deleteFrom("user_account").where("id", "=", far).execute();
    assert.equal(await findUser(db(), host.id, far), undefined);
    assert.deepEqual(await administrators(9), [own]);
  });

  /** Of a hundred thousand members the others would be read too, at each sign-in. */
  test("a sign-in and the lists find guests by their own index", async () => {
    await guest("far@one.example", homes[0]);
    statements.take();
    assert.ok(await findSignInAccount(db(), host.id, "far@one.example"));
    assert.equal((await listGuests(db(), host.id)).length, 1);
    const ofGuests = statements.take().filter((statement) => /home_org_id"? <> /.test(statement));
    assert.equal(ofGuests.length, 2);
    for (const statement of ofGuests) assert.match(await planOf(statement), /membership_roaming/, statement);
  });

  const planOf = (statement: string): Promise<string> =>
    database.transaction(async (tx) => {
      // An empty table is read as a whole, unless that is forbidden.
      if (name === "postgres") await sql`set local enable_seqscan = off`.execute(tx);
      const explain = name === "postgres" ? "explain (generic_plan)" : "explain query plan";
      const { rows } = await sql.raw(`${explain} ${statement}`).execute(tx);
      return rows.map((row) => Object.values(row as object).join(" ")).join("\n");
    });
});
