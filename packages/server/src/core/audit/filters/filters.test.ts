import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { migrate } from "../../../db/migrate.ts";
import { type Database, openDatabase } from "../../../db/open.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { createOrganisation } from "../../organisations/organisations.ts";
import { deleteFilter, listFilters } from "./filters.store.ts";
import { deleteFiltersNaming, isFilterName, MAX_FILTERS, saveFilter } from "./filters.ts";

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
  const save = (orgId: string, name: string, query = "category=signIn") =>
    saveFilter({ database, clock }, { orgId, name, query });
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

  test("filters that name a deleted user's email address are deleted", async () => {
    const [orgId, other] = [await newOrganisation(), await newOrganisation()];
    await save(orgId, "Nina", "search=Nina%40Acme.example");
    await save(orgId, "What nina@acme.example did");
    await save(orgId, "Ada", "search=ada%40acme.example");
    await save(other, "Nina", "search=nina%40acme.example");
    await deleteFiltersNaming(database.query, { orgId, email: "nina@acme.example" });
    assert.deepEqual(await names(orgId), ["Ada"]);
    assert.deepEqual(await names(other), ["Nina"]);
  });
});
