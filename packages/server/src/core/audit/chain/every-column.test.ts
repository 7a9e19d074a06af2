// Whatever somebody changes in a row of the audit log, or of the chain's end, is found: every column that the tables have.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { sql } from "kysely";
import { migrate } from "../../../db/migrate.ts";
import { type Database, openDatabase } from "../../../db/open.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { createOrganisation } from "../../organisations/organisations.ts";
import { listAuditEvents, recordAuditEvent } from "../audit.store.ts";
import { duringRequest } from "../audited-request.ts";
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

  test("detects a change of any column of an event", async () => {
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

  test("detects a change of what is indexed of an event, and of a typed email address", async () => {
    const withContext = async () => {
      const orgId = await newOrganisation();
      await duringRequest({ requestId: "node-1", userAgent: "Firefox/1 Windows" }, () =>
        recordAuditEvent(database.query, {
          ...{ orgId, at: clock(), actor: "anonymous", action: "sign-in.failed" },
          ...{ address: "192.0.2.1", applicationId: "app", typedEmail: "nobody@acme.example" },
        }),
      );
      await chainOrganisation(deps(), orgId);
      assert.equal(await faultOf(orgId), undefined);
      return orgId;
    };
    for (const table of ["audit_mention", "audit_typed_email"])
      for (const column of await columns(table)) {
        if (["org_id", "event_id", "expires_at"].includes(column)) continue;
        const orgId = await withContext();
        await run(`update ${table} set ${another(column)} where org_id = '${orgId}'`);
        const fault = await faultOf(orgId);
        assert.deepEqual([fault?.kind, fault?.seq], ["changed", 2], `${table}.${column}`);
      }
    const hidden = await withContext();
    await run(`delete from audit_mention where org_id = '${hidden}' and kind = 'request'`);
    assert.equal((await faultOf(hidden))?.kind, "changed");
    const invented = await chained();
    await run(`insert into audit_typed_email (org_id, event_id, email, salt, at, expires_at)
      values ('${invented}', '${await idAt(invented, 3)}', 'eve@acme.example', '', ${clock()}, 0)`);
    assert.deepEqual((await faultOf(invented))?.seq, 3);
    const erased = await withContext();
    await run(`delete from audit_typed_email where org_id = '${erased}'`);
    assert.equal(await faultOf(erased), undefined, "personal data may be deleted");
  });

  test("verifies events of a version that indexed nothing", async () => {
    const orgId = await newOrganisation();
    await run(`insert into audit_event (org_id, id, at, actor, action, target, details, is_change)
      values ('${orgId}', 'f', 1, 'operator', 'session-key.issued', 'key', '{"applicationId":"app"}', 0)`);
    await chainOrganisation(deps(), orgId);
    assert.equal(await faultOf(orgId), undefined);
  });

  test("detects a flipped change flag of an event of either kind", async () => {
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

  test("accepts events with actions of another version", async () => {
    const orgId = await newOrganisation();
    await run(`insert into audit_event (org_id, id, at, actor, action, target, details, is_change)
      values ('${orgId}', 'f', 1, 'operator', 'thing.done-later', 'record', '{}', 1)`);
    await chainOrganisation(deps(), orgId);
    assert.equal(await faultOf(orgId), undefined);
  });

  test("detects any change of the chain head, including its time", async () => {
    // How far it was sent is no part of the log.
    const other = ["org_id", "streamed_seq"];
    const tried = (await columns("audit_chain")).filter((column) => !other.includes(column));
    assert.equal(tried.length, 4);
    for (const column of tried) {
      const orgId = await chained();
      await run(`update audit_chain set ${another(column)} where org_id = '${orgId}'`);
      assert.equal((await faultOf(orgId))?.kind, "head", column);
    }
  });
});
