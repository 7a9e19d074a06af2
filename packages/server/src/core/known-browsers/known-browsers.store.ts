/** Which browsers a user has signed in with, so that another one can be told from them. A browser's token is no credential. */
import type { Db } from "../../db/open.ts";

/** A browser that was away for longer is new again. */
const REMEMBERED_MS = 400 * 86_400_000;

/**
 * One statement: of two sign-ins at the same time, one finds the browser new.
 * @param use.browserHash SHA-256 of the browser's recognition token
 * @returns whether the user had signed in with this browser before
 */
export async function noteBrowser(
  db: Db,
  use: { orgId: string; userId: string; browserHash: string; now: number },
): Promise<boolean> {
  const { orgId, userId, browserHash, now } = use;
  const row = await db
    .insertInto("known_browser")
    .values({
      org_id: orgId,
      user_id: userId,
      browser_hash: browserHash,
      sign_ins: 1,
      last_seen_at: now,
      expires_at: now + REMEMBERED_MS,
    })
    .onConflict((conflict) =>
      conflict.columns(["org_id", "user_id", "browser_hash"]).doUpdateSet((eb) => ({
        // Expired and not yet removed: it is as if it had never been here.
        sign_ins: eb
          .case()
          .when("known_browser.expires_at", "<=", now)
          .then(1)
          .else(eb("known_browser.sign_ins", "+", 1))
          .end(),
        last_seen_at: now,
        expires_at: now + REMEMBERED_MS,
      })),
    )
    .returning("sign_ins")
    .executeTakeFirstOrThrow();
  return row.sign_ins > 1;
}

/** Every browser is new to the user again. */
export async function forgetBrowsers(db: Db, whose: { orgId: string; userId: string }): Promise<void> {
  await db
    .deleteFrom("known_browser")
    .where("org_id", "=", whose.orgId)
    .where("user_id", "=", whose.userId)
    .execute();
}

/** @returns how many were removed, at most `limit` */
export async function deleteForgottenBrowsers(db: Db, before: number, limit: number): Promise<number> {
  const forgotten = await db
    .selectFrom("known_browser")
    .select(["org_id", "user_id", "browser_hash"])
    .where("expires_at", "<", before)
    .orderBy("expires_at")
    .limit(limit)
    .execute();
  for (const { org_id, user_id, browser_hash } of forgotten) {
    await db
      .deleteFrom("known_browser")
      .where("org_id", "=", org_id)
      .where("user_id", "=", user_id)
      .where("browser_hash", "=", browser_hash)
      .execute();
  }
  return forgotten.length;
}
