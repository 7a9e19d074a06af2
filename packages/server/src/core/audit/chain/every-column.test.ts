// Whatever somebody changes in a row of the audit log, or of the chain's end, is found: every column that the tables have.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { sql } from "kysely";
import { migrate } from "../../../db/migrate.ts";
import { type Database, openDatabase } from "../../../db/open.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { createOrganisation } from "../../organisations/organisations.ts";
import { listAuditEvents, recordAuditEvent } from "../audit.store.ts";
import { chainOrganisation } from "./chaining.ts";
import { chainKey } from "./link.ts";
import { verifyChain } from "./verify.ts";

const key = chainKey(Buffer.alloc(32, 7));

forEachDatabase(({ fresh }) => {
  let database: Database;
  const clock = () => 1_800_000_000_000;
  before(async () => {
    database = openDatabase(await fresh());
    await migrate(database);
  });
  after(() => database.close());

  const deps = () => ({ database, clock, key });
  const newOrganisation = async () =>
    (await createOrganisation({ clock }, database.query, { name: "Acme", actor: "operator" })).id;
  /** With some events, chained. */
  const chained = async () => {
    const orgId = await newOrganisation();
    for (const target of ["a", "b", "c", "d"])
      await recordAuditEvent(database.query, {
        orgId,
        at: clock(),
        actor: "operator",
        action: "application.changed",
        target,
        address: "192.0.2.1",
        details: { changed: ["name"] },
      });
    await chainOrganisation(deps(), orgId);
    return orgId;
  };
  const run = (text: string) => sql.raw(text).execute(database.query);
  const update =
    (set: string, seq = 3) =>
    (orgId: string) =>
      run(`update audit_event set ${set} where org_id = '${orgId}' and seq = ${seq}`);
  const faultOf = async (orgId: string) =>
    (await verifyChain(database.query, orgId, key, { batch: 2 })).fault;
  const idAt = async (orgId: string, seq: number) =>
    (await listAuditEvents(database.query, orgId, 100)).find((event) => event.seq === seq)?.id ?? "";

  const columns = async (table: string) => {
    const tables = await database.query.introspection.getTables();
    return tables.find((one) => one.name === table)?.columns.map((column) => column.name) ?? [];
  };
  const numbers = ["at", "seq", "updated_at"];
  const another = (column: string) => {
    if (column === "is_change") return "is_change = 1 - is_change";
    return `${column} = ${numbers.includes(column) ? `${column} + 1000` : `coalesce(${column}, '') || 'x'`}`;
  };

  test("whatever is changed in an event is found: every column that the table has", async () => {
    const tried = (await columns("audit_event")).filter((column) => column !== "org_id");
    assert.ok(tried.length >= 10 && tried.includes("is_change"));
    for (const column of tried) {
      const orgId = await chained();
      const id = await idAt(orgId, 3);
      await update(another(column))(orgId);
      const fault = await faultOf(orgId);
      if (column === "seq") assert.deepEqual(fault, { seq: 3, kind: "missing" }, column);
      else assert.deepEqual(fault, { seq: 3, id: column === "id" ? `${id}x` : id, kind: "changed" }, column);
    }
  });

  test("who changed a record last cannot be turned round: an event of either kind says what it is", async () => {
    for (const [action, target] of [
      ["session.started", "record"],
      ["application.changed", undefined],
    ] as const) {
      const orgId = await newOrganisation();
      const event = { orgId, at: clock(), actor: "operator", action };
      await recordAuditEvent(database.query, target === undefined ? event : { ...event, target });
      await chainOrganisation(deps(), orgId);
      assert.equal(await faultOf(orgId), undefined);
      await update("is_change = 1", 2)(orgId);
      assert.deepEqual(await faultOf(orgId), { seq: 2, id: await idAt(orgId, 2), kind: "changed" });
    }
  });

  test("an event of another version of the program is what that version says", async () => {
    const orgId = await newOrganisation();
    await run(`insert into audit_event (org_id, id, at, actor, action, target, details, is_change)
      values ('${orgId}', 'f', 1, 'operator', 'thing.done-later', 'record', '{}', 1)`);
    await chainOrganisation(deps(), orgId);
    assert.equal(await faultOf(orgId), undefined);
  });

  test("whatever is changed in the end of the chain is found, when it moved too", async () => {
    const tried = (await columns("audit_chain")).filter((column) => column !== "org_id");
    assert.equal(tried.length, 4);
    for (const column of tried) {
      const orgId = await chained();
      await run(`update audit_chain set ${another(column)} where org_id = '${orgId}'`);
      assert.equal((await faultOf(orgId))?.kind, "head", column);
    }
  });
});
