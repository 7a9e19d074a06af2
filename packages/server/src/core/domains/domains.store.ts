/** Stores domains of organisations. */
import { affectsAny, hasRow } from "../../db/affected.ts";
import { allOf } from "../../db/conditions.ts";
import type { Db } from "../../db/open.ts";
import { toRecord, toRow } from "../../db/records.ts";
import type { ConnectionTable } from "../../db/tables/connections.ts";
import type { DomainTable } from "../../db/tables/domains.ts";
import type { Domain, DomainKey } from "./domain.ts";

const fromRow = (row: DomainTable): Domain => ({
  ...toRecord(row),
  enforced: row.enforced === 1,
  state: row.state as Domain["state"],
  lastError: row.last_error as Domain["lastError"],
});

const rowOf = (domain: Domain): DomainTable => ({
  ...toRow(domain),
  enforced: domain.enforced ? 1 : 0,
});

/** @returns false when the organisation has this domain already */
export const insertDomain = (tx: Db, domain: Domain): Promise<boolean> =>
  hasRow(
    tx
      .insertInto("domain")
      .values(rowOf(domain))
      .onConflict((conflict) => conflict.columns(["org_id", "domain"]).doNothing())
      .returning("id"),
  );

export async function findDomain(db: Db, { orgId, id }: DomainKey): Promise<Domain | undefined> {
  const row = await db
    .selectFrom("domain")
    .selectAll()
    .where((eb) => allOf(eb, { org_id: orgId, id }))
    .executeTakeFirst();
  return row && fromRow(row);
}

/** By its name in A-labels. */
export async function findDomainByName(db: Db, orgId: string, domain: string): Promise<Domain | undefined> {
  const row = await db
    .selectFrom("domain")
    .selectAll()
    .where((eb) => allOf(eb, { org_id: orgId, domain }))
    .executeTakeFirst();
  return row && fromRow(row);
}

/** Locks it until the end of the transaction. */
export async function lockDomain(tx: Db, { orgId, id }: DomainKey): Promise<Domain | undefined> {
  const row = await tx
    .updateTable("domain")
    .set((eb) => ({ version: eb.ref("version") }))
    .where((eb) => allOf(eb, { org_id: orgId, id }))
    .returningAll()
    .executeTakeFirst();
  return row && fromRow(row);
}

/** The caller has locked it. */
export async function replaceDomain(tx: Db, domain: Domain): Promise<void> {
  const { org_id, id, created_at: _, ...changed } = rowOf(domain);
  await tx
    .updateTable("domain")
    .set(changed)
    .where((eb) => allOf(eb, { org_id, id }))
    .execute();
}

/** What a look found, the state apart. The caller has locked it. */
export async function recordLook(
  tx: Db,
  { orgId, id, lastError, missingSince, nextCheckAt, updatedAt, version }: Domain,
): Promise<void> {
  const looked = { last_error: lastError, missing_since: missingSince, next_check_at: nextCheckAt };
  await tx
    .updateTable("domain")
    .set({ ...looked, updated_at: updatedAt, version })
    .where((eb) => allOf(eb, { org_id: orgId, id }))
    .execute();
}

export const deleteDomainRow = (tx: Db, { orgId, id }: DomainKey): Promise<boolean> =>
  affectsAny(tx.deleteFrom("domain").where((eb) => allOf(eb, { org_id: orgId, id })));

/** All of them: their number is bounded. */
export async function listDomains(db: Db, orgId: string): Promise<Domain[]> {
  const rows = await db
    .selectFrom("domain")
    .selectAll()
    .where("org_id", "=", orgId)
    .orderBy("created_at")
    .orderBy("id")
    .execute();
  return rows.map(fromRow);
}

/** Of all organisations. Housekeeping's alone. */
export async function listDueDomains(db: Db, now: number, limit: number): Promise<Domain[]> {
  const rows = await db
    .selectFrom("domain")
    .selectAll()
    .where("next_check_at", "<=", now)
    .orderBy("next_check_at")
    .limit(limit)
    .execute();
  return rows.map(fromRow);
}

/** Whether people of a domain have no other way than the connection; of any, when none is named. */
export async function hasEnforcedDomain(db: Db, orgId: string, connectionId?: string): Promise<boolean> {
  let query = db
    .selectFrom("domain")
    .select("id")
    .where((eb) => allOf(eb, { org_id: orgId, enforced: 1 }));
  if (connectionId !== undefined) query = query.where("connection_id", "=", connectionId);
  return (await query.limit(1).executeTakeFirst()) !== undefined;
}

/** Connections of these kinds, in use, to which domains lead whose owner has proven them; `domain`: of that one alone. */
export async function findRoute(
  db: Db,
  orgId: string,
  { kinds, domain }: { readonly kinds: readonly ConnectionTable["kind"][]; readonly domain?: string },
): Promise<string | undefined> {
  let query = db
    .selectFrom("domain")
    .innerJoin("connection", (join) =>
      join
        .onRef("connection.org_id", "=", "domain.org_id")
        .onRef("connection.id", "=", "domain.connection_id"),
    )
    .select("connection.id")
    .where("domain.org_id", "=", orgId)
    .where("domain.state", "!=", "pending")
    .where("connection.enabled", "=", 1)
    .where("connection.kind", "in", kinds);
  if (domain !== undefined) query = query.where("domain.domain", "=", domain);
  return (await query.limit(1).executeTakeFirst())?.id;
}

/** Before the connection is deleted. */
export async function endRoutes(tx: Db, { orgId, id: connectionId }: DomainKey, now: number): Promise<void> {
  await tx
    .updateTable("domain")
    .set((eb) => ({ connection_id: null, updated_at: now, version: eb("version", "+", 1) }))
    .where((eb) => allOf(eb, { org_id: orgId, connection_id: connectionId }))
    .execute();
}
