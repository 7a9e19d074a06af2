import type { Selectable } from "kysely";
import type { Db } from "../../../db/open.ts";
import type { RememberedDeviceTable } from "../../../db/tables/second-factors.ts";
import type { User } from "../../users/user.ts";
import type { RememberedDevice } from "./trusted-browser.ts";

type Whose = Pick<User, "orgId" | "id">;

export async function insertRememberedDevice(
  db: Db,
  device: RememberedDevice & { orgId: string; userId: string; tokenHash: string },
): Promise<void> {
  await db
    .insertInto("remembered_device")
    .values({
      org_id: device.orgId,
      user_id: device.userId,
      id: device.id,
      token_hash: device.tokenHash,
      user_agent: device.userAgent,
      address: device.address,
      created_at: device.createdAt,
      last_used_at: device.lastUsedAt,
      expires_at: device.expiresAt,
      revoked_at: null,
    })
    .execute();
}

/** The user's living ones, last used first. */
export async function listRememberedDevices(db: Db, user: Whose, now: number): Promise<RememberedDevice[]> {
  const rows = await living(db, user, now).orderBy("last_used_at", "desc").execute();
  return rows.map(fromRow);
}

/** The living one that the cookie's hash names, if it is this user's. */
export async function findRememberedDevice(
  db: Db,
  user: Whose,
  tokenHash: string,
  now: number,
): Promise<RememberedDevice | undefined> {
  const row = await living(db, user, now).where("token_hash", "=", tokenHash).executeTakeFirst();
  return row && fromRow(row);
}

const living = (db: Db, user: Whose, now: number) =>
  db
    .selectFrom("remembered_device")
    .selectAll()
    .where("org_id", "=", user.orgId)
    .where("user_id", "=", user.id)
    .where("revoked_at", "is", null)
    .where("expires_at", ">", now);

export async function touchRememberedDevice(
  db: Db,
  user: Whose,
  tokenHash: string,
  now: number,
): Promise<void> {
  await db
    .updateTable("remembered_device")
    .set({ last_used_at: now })
    .where("org_id", "=", user.orgId)
    .where("user_id", "=", user.id)
    .where("token_hash", "=", tokenHash)
    .execute();
}

/** One, or all of the user's in the organisation. @returns how many were living */
export async function revokeRememberedDevices(
  db: Db,
  which: { orgId: string; userId: string; id?: string; now: number },
): Promise<number> {
  let query = db
    .updateTable("remembered_device")
    .set({ revoked_at: which.now })
    .where("org_id", "=", which.orgId)
    .where("user_id", "=", which.userId)
    .where("revoked_at", "is", null);
  if (which.id !== undefined) query = query.where("id", "=", which.id);
  return Number((await query.executeTakeFirst()).numUpdatedRows);
}

/** @returns how many were removed, at most `limit` */
export async function deletePassedDevices(db: Db, before: number, limit: number): Promise<number> {
  const passed = await db
    .selectFrom("remembered_device")
    .select(["org_id", "user_id", "id"])
    .where("expires_at", "<", before)
    .orderBy("expires_at")
    .limit(limit)
    .execute();
  for (const { org_id, user_id, id } of passed) {
    await db
      .deleteFrom("remembered_device")
      .where("org_id", "=", org_id)
      .where("user_id", "=", user_id)
      .where("id", "=", id)
      .execute();
  }
  return passed.length;
}

function fromRow(row: Selectable<RememberedDeviceTable>): RememberedDevice {
  return {
    id: row.id,
    userAgent: row.user_agent,
    address: row.address,
    createdAt: row.created_at,
    lastUsedAt: row.last_used_at,
    expiresAt: row.expires_at,
  };
}
