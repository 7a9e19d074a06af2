/**
 * Browsers that come back to a connection without a start of theirs: it is used, too old, another browser's, or made up. They cost
 * nothing to make, and stand among the sign-ins of the connection no more often than this: else they would bury the others there.
 */
import type { CoreDeps } from "../../core-deps.ts";
import { countHit } from "../../rate-limits/rate-limits.store.ts";
import type { ConnectionKey } from "../connection.ts";

const WINDOW_MS = 3_600_000;
/** Of one connection, in an hour. */
export const MAX_STARTLESS = 20;

export async function isStartlessShown(
  { database, clock }: CoreDeps,
  { orgId, id }: ConnectionKey,
): Promise<boolean> {
  const bucket = `startless-return:${id}`;
  const { hits } = await countHit(database.query, { orgId, bucket, now: clock(), windowMs: WINDOW_MS });
  return hits <= MAX_STARTLESS;
}
