/** An import is a few statements, however many users it has: while it writes, everybody else's writes wait. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { migrate } from "../../../db/migrate.ts";
import { type Database, openDatabase } from "../../../db/open.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { watchActs } from "../../../testing/probes/watched-acts.ts";
import { createEncryption } from "../../encryption/encryption.ts";
import { keyRing } from "../../encryption/key-ring.ts";
import { outbox } from "../../mail/outbox.ts";
import type { Organisation } from "../../organisations/organisation.ts";
import { createOrganisation } from "../../organisations/organisations.ts";
import { countMembers, listMembers, searchWords } from "../members/members.store.ts";
import { InvalidUser } from "../users.ts";
import { importUsers } from "./import-users.ts";

const USERS = 1_100;
const STATEMENTS_PER_BATCH = 3;
const BATCH = 500;

forEachDatabase(({ fresh }) => {
  const watch = watchActs();
  const clock = () => 1_000;
  const encryption = createEncryption(keyRing(Buffer.alloc(32, 7)));
  let database: Database;
  let organisation: Organisation;
  before(async () => {
    database = openDatabase(await fresh(), 10, watch.dialect);
    await migrate(database);
    organisation = await createOrganisation({ clock }, database.query, { name: "Acme", actor: "test" });
  });
  after(() => database.close());

  const user = (name: string, role: "Administrator" | "Standard" = "Standard") => ({
    ...{ line: 1, email: `${name}@acme.example`, firstname: name, surname: "Ångström" },
    ...{ role, locale: "da" },
  });
  const importAll = (users: ReturnType<typeof user>[]) => {
    const mail = {
      encryption,
      outbox: outbox({ encryption, clock, isOpen: true }),
      baseUrl: "https://a.example",
    };
    const wanted = { organisation, users, invites: false, actor: "user:ada", address: "192.0.2.1" };
    return importUsers({ database, clock, ...mail }, wanted);
  };
  const count = (words: string[] = []) =>
    countMembers(database.query, organisation.id, { filter: { words }, max: 10_000 });
  const events = () =>
    database.query
      .selectFrom("audit_event")
      .select(["target", "details", "is_change"])
      .where("org_id", "=", organisation.id)
      .where("action", "=", "user.created")
      .execute();

  test("thousands of users are a few statements; each is found by name, and has an event with its role", async () => {
    const users = Array.from({ length: USERS - 1 }, (_, index) => user(`u${index}`));
    await watch.during("test", "import", () => importAll([...users, user("boss", "Administrator")]));
    const [act] = watch.acts();
    assert.ok(act && act.writes.length <= STATEMENTS_PER_BATCH * Math.ceil(USERS / BATCH));
    assert.equal(await count(searchWords("ÅNGSTRÖM")), USERS);
    const found = await listMembers(database.query, organisation.id, {
      filter: { words: searchWords("boss@acme") },
      limit: 2,
    });
    assert.deepEqual(
      found.map(({ email, role, isInvited }) => [email, role, isInvited]),
      [["boss@acme.example", "Administrator", true]],
    );
    const written = await events();
    assert.equal(new Set(written.map(({ target }) => target)).size, USERS);
    const boss = written.find(({ target }) => target === found[0]?.id);
    assert.match(boss?.details ?? "", /"role":"Administrator"/);
  });

  test("one address that is taken, by another or in the list itself, and nobody is created", async () => {
    for (const taken of ["u7", "twice"])
      await assert.rejects(
        importAll([user("twice"), ...Array.from({ length: BATCH }, (_, at) => user(`v${at}`)), user(taken)]),
        InvalidUser,
      );
    assert.equal(await count(), USERS);
    assert.equal((await events()).length, USERS);
  });
});
