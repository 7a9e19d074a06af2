/**
 * A browser on which somebody showed a second factor and asked to be remembered: for thirty days the password is enough
 * there. The cookie holds a random token, the database its SHA-256. It stands in for the habit of asking, never for a
 * factor: what the session reached is the password, and a demand for more is not met by it.
 */

import { randomSecret, sha256Base64url } from "@signet/protocol/hash";
import { newUuid } from "@signet/protocol/uuid";
import type { Db } from "../../../db/open.ts";
import type { User } from "../../users/user.ts";
import type { RememberedDevice } from "./trusted-browser.ts";
import {
  findRememberedDevice,
  insertRememberedDevice,
  touchRememberedDevice,
} from "./trusted-browsers.store.ts";

export const REMEMBERED_DEVICE_MS = 30 * 86_400_000;

/** @returns the cookie's value */
export async function rememberDevice(
  tx: Db,
  user: Pick<User, "orgId" | "id">,
  device: { address: string; userAgent: string; now: number },
): Promise<string> {
  const token = randomSecret("sgn_rd_");
  await insertRememberedDevice(tx, {
    orgId: user.orgId,
    userId: user.id,
    id: newUuid(),
    tokenHash: sha256Base64url(token),
    userAgent: device.userAgent.slice(0, 300),
    address: device.address,
    createdAt: device.now,
    lastUsedAt: device.now,
    expiresAt: device.now + REMEMBERED_DEVICE_MS,
  });
  return token;
}

/** The living record behind a cookie, if it is this user's. */
export async function deviceOfCookie(
  db: Db,
  user: Pick<User, "orgId" | "id">,
  token: string | undefined,
  now: number,
): Promise<RememberedDevice | undefined> {
  return token === undefined ? undefined : findRememberedDevice(db, user, sha256Base64url(token), now);
}

/** A sign-in was spared the question there. */
export async function noteDeviceUse(
  db: Db,
  user: Pick<User, "orgId" | "id">,
  token: string | undefined,
  now: number,
): Promise<void> {
  if (token !== undefined) await touchRememberedDevice(db, user, sha256Base64url(token), now);
}
