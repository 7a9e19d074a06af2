import { sql } from "kysely";
import type { Db } from "../../../db/open.ts";
import type { DeviceCrlTable } from "../../../db/tables/device-identity.ts";
import type { RevocationReason } from "../../devices/device.ts";
import type { IssuedStatus } from "./revocation.ts";

export type CrlRow = DeviceCrlTable;

/** In the transaction of every revocation: the next who asks for a CRL gets a new one. */
export async function noteRevocation(db: Db, orgId: string): Promise<void> {
  const lists = await db
    .selectFrom("device_crl")
    .select("generation")
    .where("org_id", "=", orgId)
    .orderBy("generation")
    .execute();
  // One by one, oldest first: two revocations at once that took the rows in another order would wait for each other.
  for (const { generation } of lists)
    await db
      .updateTable("device_crl")
      .set((eb) => ({ revocations: eb("revocations", "+", 1), renew_at: 0 }))
      .where("org_id", "=", orgId)
      .where("generation", "=", generation)
      .execute();
}

export function findCrl(db: Db, orgId: string, generation: number): Promise<CrlRow | undefined> {
  return db
    .selectFrom("device_crl")
    .selectAll()
    .where("org_id", "=", orgId)
    .where("generation", "=", generation)
    .executeTakeFirst();
}

/**
 * The next CRL. Where a revocation came after `made.revocations` was read, it stays marked: who asks next gets another.
 * @returns false when another node has signed the one of this number
 */
export async function replaceCrl(db: Db, made: CrlRow): Promise<boolean> {
  const { org_id, generation, revocations, renew_at, ...signed } = made;
  const replaced = await db
    .updateTable("device_crl")
    .set({
      ...signed,
      renew_at: sql<number>`case when revocations = ${revocations} then cast(${renew_at} as bigint) else 0 end`,
    })
    .where("org_id", "=", org_id)
    .where("generation", "=", generation)
    .where("crl_number", "=", made.crl_number - 1)
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
    .select(["issued.serial", "issued.revoked_at", "issued.superseded_at", "device.revoked_reason"])
    .where("issued.org_id", "=", orgId)
    .where("issued.generation", "=", generation);

/**
 * All that are revoked or superseded, in the order of their serial numbers.
 * @param unexpiredAt those that ended before are left out
 */
export async function listEnded(
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

/** Those of the serial numbers that the generation has issued. */
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
  revoked_reason: string | null;
}): IssuedStatus => ({
  serial: row.serial,
  revokedAt: row.revoked_at,
  supersededAt: row.superseded_at,
  reason: row.revoked_reason as RevocationReason | null,
});
