/**
 * A trusted browser skips the second factor for thirty days. The cookie holds a random token, the database its SHA-256. It
 * is no factor itself: the session's acr stays that of the password, and doesn't satisfy a required acr.
 */
import { randomSecret, sha256Base64url } from "@signet/protocol/hash";
import { newUuid } from "@signet/protocol/uuid";
import type { Db } from "../../../db/open.ts";
import type { User } from "../../users/user.ts";
import { insertTrustedBrowser } from "./trusted-browsers.store.ts";

export const TRUSTED_BROWSER_MS = 30 * 86_400_000;

/** @returns the cookie's value */
export async function trustBrowser(
  tx: Db,
  user: Pick<User, "orgId" | "id">,
  browser: { address: string; userAgent: string; now: number },
): Promise<string> {
  const token = randomSecret("sgn_rd_");
  await insertTrustedBrowser(tx, {
    orgId: user.orgId,
    userId: user.id,
    id: newUuid(),
    tokenHash: sha256Base64url(token),
    userAgent: browser.userAgent.slice(0, 300),
    address: browser.address,
    createdAt: browser.now,
    lastUsedAt: browser.now,
    expiresAt: browser.now + TRUSTED_BROWSER_MS,
  });
  return token;
}
