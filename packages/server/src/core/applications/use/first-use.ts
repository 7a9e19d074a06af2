/** The last use of an application, which the quickstart waits for. */
import type { Db } from "../../../db/open.ts";
import { lastSecretUse, recentSignIns } from "./use.store.ts";

export type ApplicationUse =
  | { readonly kind: "sign-in"; readonly userId: string; readonly email: string | null; readonly at: number }
  /** A client credentials token, with a client secret. */
  | { readonly kind: "own-token"; readonly at: number };

/** Undefined when the application was never used. */
export async function lastUse(
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
