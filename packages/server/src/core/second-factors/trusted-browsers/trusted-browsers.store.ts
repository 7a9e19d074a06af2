/** Stores the browsers where a second factor can be skipped. */
import { sha256Base64url } from "@signet/protocol/hash";
import type { Selectable } from "kysely";
import type { Db } from "../../../db/open.ts";
import type { TrustedBrowserTable } from "../../../db/tables/second-factors.ts";
import type { User } from "../../users/user.ts";

export interface TrustedBrowser {
  readonly id: string;
  readonly userAgent: string;
  readonly address: string;
  readonly createdAt: number;
  readonly lastUsedAt: number;
  readonly expiresAt: number;
}

type Owner = Pick<User, "orgId" | "id">;

export async function insertTrustedBrowser(
  db: Db,
  browser: TrustedBrowser & { orgId: string; userId: string; tokenHash: string },
): Promise<void> {
  await db
    .insertInto("remembered_device")
    .values({
      org_id: browser.orgId,
      user_id: browser.userId,
      id: browser.id,
      token_hash: browser.tokenHash,
      user_agent: browser.userAgent,
      address: browser.address,
      created_at: browser.createdAt,
      last_used_at: browser.lastUsedAt,
      expires_at: browser.expiresAt,
      revoked_at: null,
    })
    .execute();
}

export async function listTrustedBrowsers(db: Db, user: Owner, now: number): Promise<TrustedBrowser[]> {
  const rows = await activeOf(db, user, now).orderBy("last_used_at", "desc").execute();
  return rows.map(fromRow);
}

/** @param token the cookie's value */
export async function findTrustedBrowser(
  db: Db,
  user: Owner,
  token: string | undefined,
  now: number,
): Promise<TrustedBrowser | undefined> {
  if (token === undefined) return undefined;
  const row = await activeOf(db, user, now)
    .where("token_hash", "=", sha256Base64url(token))
    .executeTakeFirst();
  return row && fromRow(row);
}

const activeOf = (db: Db, user: Owner, now: number) =>
  db
    .selectFrom("remembered_device")
    .selectAll()
    .where((eb) => eb.and({ org_id: user.orgId, user_id: user.id }))
    .where("revoked_at", "is", null)
    .where("expires_at", ">", now);

/** @param token the cookie's value */
export async function recordTrustedBrowserUse(
  db: Db,
  user: Owner,
  token: string,
  now: number,
): Promise<void> {
  await db
    .updateTable("remembered_device")
    .set({ last_used_at: now })
    .where((eb) => eb.and({ org_id: user.orgId, user_id: user.id, token_hash: sha256Base64url(token) }))
    .execute();
}

/** One, or all of the user's in the organisation. @returns how many were active */
export async function revokeTrustedBrowsers(
  db: Db,
  which: { orgId: string; userId: string; id?: string; now: number },
): Promise<number> {
  let query = db
    .updateTable("remembered_device")
    .set({ revoked_at: which.now })
    .where((eb) => eb.and({ org_id: which.orgId, user_id: which.userId }))
    .where("revoked_at", "is", null);
  if (which.id !== undefined) query = query.where("id", "=", which.id);
  return Number((await query.executeTakeFirst()).numUpdatedRows);
}

function fromRow(row: Selectable<TrustedBrowserTable>): TrustedBrowser {
  return {
    id: row.id,
    userAgent: row.user_agent,
    address: row.address,
    createdAt: row.created_at,
    lastUsedAt: row.last_used_at,
    expiresAt: row.expires_at,
  };
}
