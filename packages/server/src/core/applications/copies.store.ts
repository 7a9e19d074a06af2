/** Copies: rows of applications that another organisation shares (application-copies.ts). */
import { allOf } from "../../db/conditions.ts";
import type { Db } from "../../db/open.ts";
import { type Parameter, prepared } from "../../db/prepared.ts";
import { lockedInOrder } from "../../db/row-locks.ts";
import type { Application } from "./application.ts";
import { findRow, findSecrets, fromRow } from "./applications.store.ts";

const selectHome = prepared((db, value: Parameter<{ id: string }>) =>
  db.selectFrom("organisation").select(["id", "disabled_at"]).where("id", "=", value("id")),
);

/**
 * An application with what it authenticates with. A copy's secrets are its home's, which no other organisation may see; while its
 * home is disabled, or gone, it is so too.
 */
export async function findClient(db: Db, orgId: string, id: string): Promise<Application | undefined> {
  const row = await findRow(db, { orgId, id });
  if (!row) return undefined;
  if (row.home_org_id === null) return fromRow(row, await findSecrets(db, { orgId, id }));
  const [home] = await selectHome(db, { id: row.home_org_id });
  const client = fromRow(row, await findSecrets(db, { orgId: row.home_org_id, id }));
  return { ...client, disabledAt: home ? (home.disabled_at ?? client.disabledAt) : client.updatedAt };
}

interface Home {
  readonly orgId: string;
  readonly id: string;
}

/**
 * Locks them until the end of the transaction, as they are then: their own organisation changes them too. In a fixed order, so that
 * two changes can't deadlock.
 */
export async function lockCopies(tx: Db, home: Home): Promise<Application[]> {
  const copies = tx
    .selectFrom("application")
    .select("org_id")
    .where((eb) => allOf(eb, { home_org_id: home.orgId, id: home.id }));
  const rows = await tx
    .updateTable("application")
    .set((eb) => ({ version: eb.ref("version") }))
    .where((eb) => allOf(eb, { home_org_id: home.orgId, id: home.id }))
    .where("org_id", "in", lockedInOrder(tx, copies, "org_id"))
    .returningAll()
    .execute();
  return rows.map((row) => fromRow(row));
}

/** The organisations that have a copy. */
export async function listOrganisationsOfCopies(db: Db, home: Home): Promise<string[]> {
  const rows = await db
    .selectFrom("application")
    .select("org_id")
    .where((eb) => allOf(eb, { home_org_id: home.orgId, id: home.id }))
    .orderBy("org_id")
    .execute();
  return rows.map(({ org_id: orgId }) => orgId);
}

/** Of all applications of an organisation. */
export async function listCopiesOfHome(db: Db, homeOrgId: string, limit: number): Promise<Application[]> {
  const rows = await db
    .selectFrom("application")
    .selectAll()
    .where("home_org_id", "=", homeOrgId)
    .orderBy("id")
    .orderBy("org_id")
    .limit(limit)
    .execute();
  return rows.map((row) => fromRow(row));
}

/** The organisations that have one of its applications. */
export async function listOrganisationsWithCopies(db: Db, homeOrgId: string): Promise<string[]> {
  const rows = await db
    .selectFrom("application")
    .select("org_id")
    .distinct()
    .where("home_org_id", "=", homeOrgId)
    .orderBy("org_id")
    .execute();
  return rows.map(({ org_id: orgId }) => orgId);
}
