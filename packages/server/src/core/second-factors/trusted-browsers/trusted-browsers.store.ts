/**
 * A trusted browser skips the second factor for thirty days. The cookie holds a random token, the database its SHA-256. It
 * is no factor itself: the session's acr stays that of the password, and doesn't satisfy a required acr.
 */

import { randomSecret, sha256Base64url } from "@signet/protocol/hash";
import { newUuid } from "@signet/protocol/uuid";
import { countAffected } from "../../../db/affected.ts";
import { allOf } from "../../../db/conditions.ts";
import type { Db } from "../../../db/open.ts";
import { type RecordOf, toRecord, toRow } from "../../../db/records.ts";
import type { TrustedBrowserTable } from "../../../db/tables/second-factors.ts";
import type { User } from "../../users/user.ts";

export const TRUSTED_BROWSER_MS = 30 * 86_400_000;

const columns = ["id", "user_agent", "address", "created_at", "last_used_at", "expires_at"] as const;

export type TrustedBrowser = RecordOf<Pick<TrustedBrowserTable, (typeof columns)[number]>>;

type Owner = Pick<User, "orgId" | "id">;

export async function insertTrustedBrowser(
  db: Db,
  browser: TrustedBrowser & { orgId: string; userId: string; tokenHash: string },
): Promise<void> {
  await db
    .insertInto("remembered_device")
    .values({ ...toRow(browser), revoked_at: null })
    .execute();
}

/** @returns the cookie's value */
export async function trustBrowser(
  tx: Db,
  { orgId, id: userId }: Owner,
  { address, userAgent, now }: { address: string; userAgent: string; now: number },
): Promise<string> {
  const token = randomSecret("sgn_rd_");
  const times = { createdAt: now, lastUsedAt: now, expiresAt: now + TRUSTED_BROWSER_MS };
  const browser = { tokenHash: sha256Base64url(token), userAgent: userAgent.slice(0, 300), address };
  await insertTrustedBrowser(tx, { orgId, userId, id: newUuid(), ...browser, ...times });
  return token;
}

export async function listTrustedBrowsers(db: Db, user: Owner, now: number): Promise<TrustedBrowser[]> {
  const rows = await activeOf(db, user, now).orderBy("last_used_at", "desc").execute();
  return rows.map(toRecord);
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
  return row && toRecord(row);
}

const activeOf = (db: Db, user: Owner, now: number) =>
  db
    .selectFrom("remembered_device")
    .select(columns)
    .where((eb) => allOf(eb, { org_id: user.orgId, user_id: user.id }))
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
    .where((eb) => allOf(eb, { org_id: user.orgId, user_id: user.id, token_hash: sha256Base64url(token) }))
    .execute();
}

/** One, or all of the user's in the organisation. @returns how many were active */
export const revokeTrustedBrowsers = (
  db: Db,
  { orgId, userId, id, now }: { orgId: string; userId: string; id?: string; now: number },
): Promise<number> =>
  countAffected(
    db
      .updateTable("remembered_device")
      .set({ revoked_at: now })
      .where((eb) => allOf(eb, { org_id: orgId, user_id: userId, ...(id === undefined ? {} : { id }) }))
      .where("revoked_at", "is", null),
  );
