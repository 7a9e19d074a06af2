/** Resolves what a reader types into the actor filter of the audit log. */
import { isUuid } from "@signet/protocol/hash";
import type { Db } from "../../../db/open.ts";
import { emailKey } from "../../users/user.ts";
import { findUserByEmail } from "../../users/users.store.ts";

const withoutId = ["operator", "system", "anonymous"];
const withId = ["user", "client", "system-account", "agent", "device"];

/**
 * @param text an email address of the organisation, an id, or an actor as in the log
 * @returns matching actors; empty without a match
 */
export async function matchActors(db: Db, orgId: string, text: string): Promise<readonly string[]> {
  const typed = text.trim();
  if (typed.includes("@")) {
    const found = await findUserByEmail(db, orgId, emailKey(typed));
    return found ? [`user:${found.user.id}`] : [];
  }
  const lower = typed.toLowerCase();
  if (isUuid(lower)) return withId.map((kind) => `${kind}:${lower}`);
  const isActor = withoutId.includes(lower) || withId.some((kind) => lower.startsWith(`${kind}:`));
  return isActor ? [lower] : [];
}
