/** Statements that change several rows of a table lock them in the order of their ids, whatever the order they are stored in. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { sql } from "kysely";
import { lockApplications } from "../core/applications/applications.store.ts";
import { lockScopesByName } from "../core/scopes/scopes.store.ts";
import { revokeSessionKeys } from "../core/session-keys/session-keys.store.ts";
import { revokeTokenFamilies } from "../core/tokens/tokens.store.ts";
import type { Db } from "../db/open.ts";
import { asAnotherRequest } from "../db/transaction-scope.ts";
import { forEachDatabase } from "../testing/databases.ts";
import { eventually } from "../testing/eventually.ts";
import { copyRows } from "../testing/fixtures/copied-rows.ts";
import { type SeededRecords, seedRecords } from "../testing/fixtures/planted-records.ts";
import { isStatementBlocked } from "../testing/probes/blocked-statements.ts";
import { startTestService, type TestService } from "../testing/test-service.ts";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let acme: SeededRecords;
  before(async () => {
    running = await startTestService({ databaseUrl: await fresh() });
    acme = await seedRecords(running.service, "Acme");
    const { query } = running.service.database;
    await query
      .insertInto("token_family")
      .values({ ...grant(), scope: "", resources: "[]", generation: 0 })
      .execute();
    const key = { kind: "UserTemp", address: "", last_seen_at: 0, key_hash: "first" };
    await query
      .insertInto("session_key")
      .values({ ...grant(), ...key })
      .execute();
  });
  after(() => running.close());

  const grant = () => ({
    org_id: acme.organisation.id,
    id: "first",
    application_id: acme.ids["applications"] ?? "",
    user_id: acme.holder.user.id,
    auth_time: 0,
    amr: "[]",
    acr: "",
    created_at: 0,
    expires_at: Date.now() + 3_600_000,
  });

  type Case = { table: string; unique: string; statement: (db: Db, names: string[]) => Promise<unknown> };

  /** Two copies of a row, the later one with the smaller id, and a transaction that locks that one first. */
  async function meets({ table, unique, statement }: Case) {
    const { database } = running.service;
    const copies = { table, where: `org_id = '${acme.organisation.id}'`, count: 1 };
    for (const [from, id] of ["f", "0"].entries())
      await copyRows(database.query, {
        ...copies,
        from,
        changed: { id: `'${id}'`, [unique]: `'lock-${id}'` },
      });
    const touch = (tx: Db, id: string) =>
      sql`update ${sql.table(table)} set id = id where id = ${id}`.execute(tx);
    let ended: Promise<unknown> = Promise.resolve();
    await database.transaction(async (tx) => {
      await touch(tx, "0");
      ended = asAnotherRequest(() =>
        Promise.allSettled([
          database.transaction((other) => inStoredOrder(other, () => statement(other, ["lock-f", "lock-0"]))),
        ]),
      );
      if (database.kind === "postgres")
        await eventually("it waits", () => isStatementBlocked(database.query));
      await touch(tx, "f");
    });
    const [outcome] = (await ended) as [PromiseSettledResult<unknown>];
    assert.equal(outcome.status, "fulfilled", String("reason" in outcome && outcome.reason));
  }

  /** With an index the rows might come in the order of their ids by chance. */
  async function inStoredOrder(tx: Db, statement: () => Promise<unknown>) {
    const scans = running.service.database.kind === "postgres" ? ["index", "bitmap", "indexonly"] : [];
    for (const scan of scans) await sql.raw(`set local enable_${scan}scan = off`).execute(tx);
    await statement();
  }

  const ofUser = () => ({ orgId: acme.organisation.id, userId: acme.holder.user.id, now: 1, reason: "test" });
  const cases: Record<string, () => Case> = {
    "token families that are revoked": () => ({
      table: "token_family",
      unique: "refresh_hash",
      statement: (db) => revokeTokenFamilies(db, ofUser()),
    }),
    "session keys that are revoked": () => ({
      table: "session_key",
      unique: "key_hash",
      statement: (db) => revokeSessionKeys(db, ofUser()),
    }),
    "scopes that a configuration names": () => ({
      table: "custom_scope",
      unique: "name",
      statement: (db, names) => lockScopesByName(db, acme.organisation.id, names),
    }),
    "an organisation's applications": () => ({
      table: "application",
      unique: "name",
      statement: (db) => lockApplications(db, acme.organisation.id),
    }),
  };
  for (const [title, made] of Object.entries(cases)) test(title, () => meets(made()));
});
