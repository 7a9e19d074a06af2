// The audit probe that every service test relies on: detects changes and whether they are audited.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { recordAuditEvent } from "../../core/audit/audit.store.ts";
import { duringRequest } from "../../core/audit/audited-request.ts";
import { createOrganisation } from "../../core/organisations/organisations.ts";
import { migrate } from "../../db/migrate.ts";
import { type Database, type Db, openDatabase } from "../../db/open.ts";
import { forEachDatabase } from "../databases.ts";
import { unauditedActs } from "./audited-acts.ts";
import { type ActWatch, watchActs } from "./watched-acts.ts";

forEachDatabase(({ fresh }) => {
  let database: Database;
  let watch: ActWatch;
  let orgId: string;
  before(async () => {
    watch = watchActs();
    database = openDatabase(await fresh(), 2, watch.dialect);
    await migrate(database);
    const made = { name: "Acme", actor: "operator" };
    orgId = (await createOrganisation({ clock: () => 1 }, database.query, made)).id;
  });
  after(() => database.close());

  const rename = (db: Db) =>
    db.updateTable("organisation").set({ name: "Other" }).where("id", "=", orgId).execute();
  const told = (db: Db, more: { actor?: string; target?: string; address?: string }) =>
    recordAuditEvent(db, { orgId, at: 1, actor: "operator", action: "organisation.changed", ...more });
  let acts = 0;
  /** The report for an act with these statements. */
  const said = async (work: () => Promise<unknown>, where = {}) => {
    const url = `/${acts++}`;
    const request = { requestId: "test-1", userAgent: undefined };
    await duringRequest(request, () => watch.during("POST", url, work)).catch((error: Error) =>
      assert.equal(error.message, "no"),
    );
    return unauditedActs(
      watch.acts().filter((act) => act.url === url),
      where,
    );
  };
  const whole = { target: "t", address: "192.0.2.1" };

  test("reports an unaudited change, in a transaction or not, by any statement", async () => {
    assert.deepEqual(await said(() => rename(database.query)), [
      `POST /${acts - 1}: update organisation name: no event`,
    ]);
    const inside = (work: (tx: Db) => Promise<unknown>) => () => database.transaction(work);
    assert.equal((await said(inside(rename))).length, 1);
    const scope = { org_id: orgId, id: "s", name: "s", display_name: "s", description: "", claims: "[]" };
    const times = { sensitive: 0, created_at: 1, updated_at: 1, version: 1 };
    const insert = (db: Db) =>
      db
        .insertInto("custom_scope")
        .values({ ...scope, ...times })
        .execute();
    assert.match(String(await said(inside(insert))), /insert custom_scope: no event$/);
    const remove = (db: Db) => db.deleteFrom("custom_scope").where("org_id", "=", orgId).execute();
    assert.match(String(await said(() => remove(database.query))), /delete custom_scope: no event$/);
    assert.deepEqual(await said(() => remove(database.query)), [], "there was nothing left");
  });

  test("reports an event without the reference of its request, unless nothing asked for it", async () => {
    const act = async (by: object) => {
      const url = `/${acts++}`;
      await watch.during("POST", url, async () => {
        await rename(database.query);
        await told(database.query, { ...whole, ...by });
      });
      return unauditedActs(watch.acts().filter((one) => one.url === url));
    };
    assert.match(String(await act({})), /organisation\.changed without the request's reference$/);
    assert.deepEqual(await act({ actor: "system" }), []);
  });

  test("a statement with a time in its text fails", async () => {
    const until = (db: Db, time: number) =>
      db
        .updateTable("background_lease")
        .set((eb) => ({ expires_at: eb.case().when("holder", "=", "x").then(time).else(0).end() }))
        .execute();
    await assert.rejects(until(database.query, 1_795_000_000_000), assert.AssertionError);
    await until(database.query, 1);
  });

  test("an event names actor, target and address; a local command has no address", async () => {
    const with_ = (more: Parameters<typeof told>[1]) => () =>
      database.transaction(async (tx) => {
        await rename(tx);
        await told(tx, more);
      });
    assert.deepEqual(await said(with_(whole)), []);
    assert.match(
      String(await said(with_({ target: "t" }))),
      /organisation\.changed by operator on t from null$/,
    );
    assert.equal((await said(with_({ address: "192.0.2.1" }))).length, 1);
    assert.equal((await said(with_({ ...whole, actor: "" }))).length, 1);
    assert.deepEqual(await said(with_({ target: "t", actor: "system" })), []);
    assert.deepEqual(await said(with_({ target: "t" }), { isHere: true }), []);
  });

  test("a rollback, a lock, a read and another organisation's change are no change", async () => {
    const rolledBack = () =>
      database.transaction(async (tx) => {
        await rename(tx);
        throw new Error("no");
      });
    assert.deepEqual(await said(rolledBack), []);
    const held = (db: Db) =>
      db
        .updateTable("organisation")
        .set((eb) => ({ name: eb.ref("name"), settings: eb.ref("settings") }))
        .where("id", "=", orgId)
        .execute();
    assert.deepEqual(await said(() => held(database.query)), []);
    const looked = (db: Db) => db.selectFrom("organisation").selectAll().execute();
    assert.deepEqual(await said(() => looked(database.query)), []);
    await rename(database.query);
    assert.deepEqual(unauditedActs(watch.acts().filter(({ url }) => url === `/${acts}`)), []);
  });
});
