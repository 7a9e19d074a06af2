/** Stores portal links; secrets as their hashes. */
import { affectsAny } from "../../db/affected.ts";
import { allOf } from "../../db/conditions.ts";
import type { Db } from "../../db/open.ts";
import { toRecord, toRow } from "../../db/records.ts";
import type { PortalLinkTable } from "../../db/tables/connections.ts";
import type { ApiScope } from "../scopes/api-scopes.ts";
import type { PortalLink, PortalPurpose } from "./portal-link.ts";

type LinkKey = Pick<PortalLink, "orgId" | "id">;

const fromRow = (row: PortalLinkTable): PortalLink => ({
  ...toRecord(row),
  purposes: JSON.parse(row.purposes) as PortalPurpose[],
  scopes: JSON.parse(row.scopes) as ApiScope[],
});

export async function insertPortalLink(tx: Db, link: PortalLink): Promise<void> {
  const { purposes, scopes, ...row } = toRow(link);
  await tx
    .insertInto("portal_link")
    .values({ ...row, purposes: JSON.stringify(purposes), scopes: JSON.stringify(scopes) })
    .execute();
}

export async function findPortalLink(db: Db, { orgId, id }: LinkKey): Promise<PortalLink | undefined> {
  const row = await db
    .selectFrom("portal_link")
    .selectAll()
    .where((eb) => allOf(eb, { org_id: orgId, id }))
    .executeTakeFirst();
  return row && fromRow(row);
}

/** Those that are not over, and those that housekeeping still keeps. */
export async function listPortalLinks(db: Db, orgId: string): Promise<PortalLink[]> {
  const rows = await db
    .selectFrom("portal_link")
    .selectAll()
    .where("org_id", "=", orgId)
    .orderBy("id")
    .execute();
  return rows.map(fromRow);
}

/** Whatever became of it. The token names no organisation. */
export async function findLinkOfToken(db: Db, tokenHash: string): Promise<PortalLink | undefined> {
  const row = await db
    .selectFrom("portal_link")
    .selectAll()
    .where("token_hash", "=", tokenHash)
    .executeTakeFirst();
  return row && fromRow(row);
}

/** Of several at once, one gets it. @returns undefined when it is used or expired */
export async function openLinkRow(
  tx: Db,
  { orgId, tokenHash, sessionHash, now, endsAt }: OpenedLink,
): Promise<PortalLink | undefined> {
  const row = await tx
    .updateTable("portal_link")
    .set({ opened_at: now, session_hash: sessionHash, ends_at: endsAt, updated_at: now })
    .where((eb) => allOf(eb, { org_id: orgId, token_hash: tokenHash }))
    .where("opened_at", "is", null)
    .where("ends_at", ">", now)
    .returningAll()
    .executeTakeFirst();
  return row && fromRow(row);
}

interface OpenedLink {
  readonly orgId: string;
  readonly tokenHash: string;
  readonly sessionHash: string;
  readonly now: number;
  readonly endsAt: number;
}

export async function findLinkOfSession(
  db: Db,
  { orgId, sessionHash, now }: Pick<OpenedLink, "orgId" | "sessionHash" | "now">,
): Promise<PortalLink | undefined> {
  const row = await db
    .selectFrom("portal_link")
    .selectAll()
    .where((eb) => allOf(eb, { org_id: orgId, session_hash: sessionHash }))
    .where("ends_at", ">", now)
    .executeTakeFirst();
  return row && fromRow(row);
}

/** Until the end of the transaction. */
export async function lockPortalLink(tx: Db, { orgId, id }: LinkKey): Promise<PortalLink | undefined> {
  const row = await tx
    .updateTable("portal_link")
    .set((eb) => ({ updated_at: eb.ref("updated_at") }))
    .where((eb) => allOf(eb, { org_id: orgId, id }))
    .returningAll()
    .executeTakeFirst();
  return row && fromRow(row);
}

/** @returns false when it is over already */
export const closeLinkRow = (tx: Db, { orgId, id }: LinkKey, now: number): Promise<boolean> =>
  affectsAny(
    tx
      .updateTable("portal_link")
      .set({ session_hash: null, ends_at: now, updated_at: now })
      .where((eb) => allOf(eb, { org_id: orgId, id }))
      .where("ends_at", ">", now),
  );

export const deletePortalLinkRow = (tx: Db, { orgId, id }: LinkKey): Promise<boolean> =>
  affectsAny(tx.deleteFrom("portal_link").where((eb) => allOf(eb, { org_id: orgId, id })));
