/** CRLs, and the certificates they list, as rows. */

import { sql } from "kysely";
import { allOf } from "../../../db/conditions.ts";
import type { Db } from "../../../db/open.ts";
import { toRecord } from "../../../db/records.ts";
import type { DeviceCrlTable } from "../../../db/tables/device-identity.ts";
import type { RevocationReason } from "../../devices/device.ts";
import type { IssuedStatus } from "./revocation.ts";

export type CrlRow = DeviceCrlTable;

/** In the transaction of every revocation: the next fetch gets new CRLs. */
export async function invalidateRevocationLists(db: Db, orgId: string): Promise<void> {
  const lists = await db
    .selectFrom("device_crl")
    .select("generation")
    .where("org_id", "=", orgId)
    .orderBy("generation")
    .execute();
  // In a fixed order, so that simultaneous revocations can't deadlock.
  for (const { generation } of lists)
    await db
      .updateTable("device_crl")
      .set((eb) => ({ revocations: eb("revocations", "+", 1), renew_at: 0 }))
      .where((eb) => allOf(eb, { org_id: orgId, generation }))
      .execute();
}

export function findCrl(db: Db, orgId: string, generation: number): Promise<CrlRow | undefined> {
  return db
    .selectFrom("device_crl")
    .selectAll()
    .where((eb) => allOf(eb, { org_id: orgId, generation }))
    .executeTakeFirst();
}

/**
 * Stores the next CRL. After a revocation since `next.revocations` was read it is outdated at once.
 * @returns false when another node has stored this number
 */
export async function replaceCrl(db: Db, next: CrlRow): Promise<boolean> {
  const { org_id, generation, revocations, renew_at, ...signed } = next;
  const replaced = await db
    .updateTable("device_crl")
    .set({
      ...signed,
      renew_at: sql<number>`case when revocations = ${revocations} then cast(${renew_at} as bigint) else 0 end`,
    })
    .where((eb) => allOf(eb, { org_id, generation, crl_number: next.crl_number - 1 }))
    .returning("crl_number")
    .executeTakeFirst();
  return replaced !== undefined;
}

const statuses = (db: Db, orgId: string, generation: number) =>
  db
    .selectFrom("device_certificate as issued")
    .innerJoin("device", (join) =>
      join.onRef("device.org_id", "=", "issued.org_id").onRef("device.id", "=", "issued.device_id"),
    )
    .select(["issued.serial", "issued.revoked_at", "issued.superseded_at", "device.revoked_reason as reason"])
    .where((eb) => allOf(eb, { "issued.org_id": orgId, "issued.generation": generation }));

/**
 * By serial number.
 * @param unexpiredAt leaves out certificates that expired before
 */
export async function listRevokedOrSuperseded(
  db: Db,
  { orgId, generation }: { orgId: string; generation: number },
  unexpiredAt: number,
): Promise<IssuedStatus[]> {
  const rows = await statuses(db, orgId, generation)
    .where("issued.not_after", ">", unexpiredAt)
    .where((eb) =>
      eb.or([eb("issued.revoked_at", "is not", null), eb("issued.superseded_at", "is not", null)]),
    )
    .orderBy("issued.serial")
    .execute();
  return rows.map(toStatus);
}

/** The certificates with these serial numbers that the generation issued. */
export async function findBySerials(
  db: Db,
  { orgId, generation }: { orgId: string; generation: number },
  serials: readonly string[],
): Promise<IssuedStatus[]> {
  if (serials.length === 0) return [];
  const rows = await statuses(db, orgId, generation).where("issued.serial", "in", serials).execute();
  return rows.map(toStatus);
}

const toStatus = (row: {
  serial: string;
  revoked_at: number | null;
  superseded_at: number | null;
  reason: string | null;
}): IssuedStatus => ({ ...toRecord(row), reason: row.reason as RevocationReason | null });
