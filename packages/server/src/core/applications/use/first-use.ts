/** Whether an application has been used, and by whom: what a quickstart waits for. */
import type { Db } from "../../../db/open.ts";
import { lastSecretUse, recentSignIns } from "./use.store.ts";

export type ApplicationUse =
  | { readonly kind: "sign-in"; readonly userId: string; readonly email: string | null; readonly at: number }
  /** It has proven itself with a secret, for a token of its own. */
  | { readonly kind: "own-token"; readonly at: number };

/** The newest use; undefined when there was none. */
export async function newestUse(
  db: Db,
  of: { orgId: string; applicationId: string },
  isService: boolean,
): Promise<ApplicationUse | undefined> {
  if (isService) {
    const at = await lastSecretUse(db, of);
    return at === null ? undefined : { kind: "own-token", at };
  }
  const [signIn] = await recentSignIns(db, "oauth", of, 1);
  const [key] = await recentSignIns(db, "legacy", of, 1);
  const newest = key && (!signIn || key.at > signIn.at) ? key : signIn;
  return newest && { kind: "sign-in", userId: newest.userId, email: newest.email, at: newest.at };
}
