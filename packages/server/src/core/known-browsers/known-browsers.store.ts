/** Stores the browsers that a user has signed in with, to detect new ones. A browser's token is no credential. */
import { hasRow } from "../../db/affected.ts";
import { allOf } from "../../db/conditions.ts";
import type { Db } from "../../db/open.ts";
import { toRow } from "../../db/records.ts";

const LIFETIME_MS = 400 * 86_400_000;

/**
 * One statement: of two concurrent sign-ins, one finds the browser new.
 * @param use.browserHash SHA-256 of the browser's recognition token
 * @returns whether the user had signed in with this browser before
 */
export async function recordBrowserUse(
  db: Db,
  use: { orgId: string; userId: string; browserHash: string; now: number },
): Promise<boolean> {
  const { now, ...browser } = use;
  const seen = { last_seen_at: now, expires_at: now + LIFETIME_MS };
  const row = await db
    .insertInto("known_browser")
    .values({ ...toRow(browser), sign_ins: 1, ...seen })
    .onConflict((conflict) =>
      conflict.columns(["org_id", "user_id", "browser_hash"]).doUpdateSet((eb) => ({
        // Expired and not yet removed: the browser is new again.
        sign_ins: eb
          .case()
          .when("known_browser.expires_at", "<=", now)
          .then(1)
          .else(eb("known_browser.sign_ins", "+", 1))
          .end(),
        ...seen,
      })),
    )
    .returning("sign_ins")
    .executeTakeFirstOrThrow();
  return row.sign_ins > 1;
}

/** Whether the account of an address has been signed in to with this browser. One statement, whether there is such an account or not. */
export const isBrowserOfAddress = (
  db: Db,
  {
    orgId,
    emailKey,
    browserHash,
    now,
  }: { orgId: string; emailKey: string; browserHash: string; now: number },
): Promise<boolean> =>
  hasRow(
    db
      .selectFrom("known_browser")
      .innerJoin("user_account", (join) =>
        join
          .onRef("user_account.org_id", "=", "known_browser.org_id")
          .onRef("user_account.id", "=", "known_browser.user_id"),
      )
      .select("known_browser.user_id")
      .where((eb) =>
        allOf(eb, { "known_browser.org_id": orgId, "user_account.org_id": orgId, browser_hash: browserHash }),
      )
      .where("user_account.email_key", "=", emailKey)
      .where("known_browser.expires_at", ">", now),
  );

export async function deleteKnownBrowsers(db: Db, user: { orgId: string; userId: string }): Promise<void> {
  await db
    .deleteFrom("known_browser")
    .where((eb) => allOf(eb, { org_id: user.orgId, user_id: user.userId }))
    .execute();
}
