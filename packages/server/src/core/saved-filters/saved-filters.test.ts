import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { sql } from "kysely";
import { migrate } from "../../db/migrate.ts";
import { type Database, openDatabase } from "../../db/open.ts";
import { forEachDatabase } from "../../testing/databases.ts";
import { createOrganisation } from "../organisations/organisations.ts";
import { deleteFilter, listFilters } from "./saved-filters.store.ts";
import { deleteFiltersNaming, isFilterName, MAX_FILTERS, saveFilter } from "./saved-filters.ts";

forEachDatabase(({ fresh }) => {
  let database: Database;
  const clock = () => 1_800_000_000_000;
  before(async () => {
    database = openDatabase(await fresh());
    await migrate(database);
  });
  after(() => database.close());

  const newOrganisation = async () =>
    (await createOrganisation({ clock }, database.query, { name: "Acme", actor: "operator" })).id;
  const save = (orgId: string, name: string, query = "category=signIn", list = "audit-log") =>
    saveFilter({ database, clock }, { orgId, list, name, query });
  const names = async (orgId: string) => (await listFilters(database.query, orgId)).map(({ name }) => name);

  test("administrators of one organisation share its filters, and no other organisation has them", async () => {
    const [orgId, other] = [await newOrganisation(), await newOrganisation()];
    assert.equal(await save(orgId, "Sign-ins"), true);
    assert.equal(await save(orgId, "Keys", "event=signing-key.rotated"), true);
    assert.deepEqual(await names(orgId), ["Keys", "Sign-ins"]);
    assert.deepEqual(await names(other), []);
    const [{ id = "" } = {}] = await listFilters(database.query, orgId);
    assert.equal(await deleteFilter(database.query, { orgId: other, id }), false);
    assert.equal(await deleteFilter(database.query, { orgId, id }), true);
    assert.equal(await deleteFilter(database.query, { orgId, id }), false);
    assert.deepEqual(await names(orgId), ["Sign-ins"]);
  });

  test("an organisation has a limited number of filters of limited length", async () => {
    const orgId = await newOrganisation();
    assert.equal(await save(orgId, "Long", `search=${"x".repeat(1_600)}`), false);
    for (let at = 0; at < MAX_FILTERS; at++) assert.equal(await save(orgId, `Filter ${at}`), true);
    assert.equal(await save(orgId, "One more"), false);
    assert.equal((await names(orgId)).length, MAX_FILTERS);
    for (const name of ["", "x".repeat(61), "a\nb", "a\u0000"]) assert.equal(isFilterName(name), false);
    assert.equal(isFilterName("Fehlgeschlagene Anmeldungen"), true);
  });

  test("each list has filters of its own, and as many as any other", async () => {
    const orgId = await newOrganisation();
    for (let at = 0; at < MAX_FILTERS; at++) assert.equal(await save(orgId, `Filter ${at}`), true);
    assert.equal(await save(orgId, "Disabled", "state=disabled", "users"), true);
    const listed = async (list: string) =>
      (await listFilters(database.query, orgId, list)).map(({ name, query }) => [name, query]);
    assert.deepEqual(await listed("users"), [["Disabled", "state=disabled"]]);
    assert.deepEqual(await listed("devices"), []);
    assert.equal((await listed("audit-log")).length, MAX_FILTERS);
  });

  test("a filter that was saved before lists had names is the audit log's", async () => {
    const orgId = await newOrganisation();
    await sql`insert into audit_filter (org_id, id, name, query, created_at)
      values (${orgId}, ${"f1"}, ${"Old"}, ${"category=signIn"}, ${1})`.execute(database.query);
    assert.deepEqual(
      (await listFilters(database.query, orgId, "audit-log")).map(({ name }) => name),
      ["Old"],
    );
  });

  test("filters that name a deleted user's email address are deleted", async () => {
    const [orgId, other] = [await newOrganisation(), await newOrganisation()];
    await save(orgId, "Nina", "search=Nina%40Acme.example");
    await save(orgId, "What nina@acme.example did");
    await save(orgId, "Account", "search=nina%40acme.example", "users");
    await save(orgId, "Ada", "search=ada%40acme.example");
    await save(other, "Nina", "search=nina%40acme.example");
    await deleteFiltersNaming(database.query, { orgId, email: "nina@acme.example" });
    assert.deepEqual(await names(orgId), ["Ada"]);
    assert.deepEqual(await names(other), ["Nina"]);
  });
});
