/** Stores which version of an organisation's terms a user has accepted, and when. */
import { hasRow } from "../../db/affected.ts";
import { allOf } from "../../db/conditions.ts";
import type { Db } from "../../db/open.ts";

export interface AcceptedTerms {
  readonly version: string;
  /** Milliseconds. */
  readonly acceptedAt: number;
}

interface Member {
  readonly orgId: string;
  readonly userId: string;
}

/** @returns false when the user has accepted this version before */
export const insertAcceptedTerms = (
  tx: Db,
  { orgId, userId, version, acceptedAt }: Member & AcceptedTerms,
): Promise<boolean> =>
  hasRow(
    tx
      .insertInto("accepted_terms")
      .values({ org_id: orgId, user_id: userId, version, accepted_at: acceptedAt })
      .onConflict((conflict) => conflict.columns(["org_id", "user_id", "version"]).doNothing())
      .returning("version"),
  );

export const hasAcceptedTerms = (
  db: Db,
  { orgId, userId, version }: Member & Pick<AcceptedTerms, "version">,
): Promise<boolean> =>
  hasRow(
    db
      .selectFrom("accepted_terms")
      .select("version")
      .where((eb) => allOf(eb, { org_id: orgId, user_id: userId, version })),
  );

/** Of these users, the oldest first. */
export async function listAcceptedTerms(
  db: Db,
  { orgId, userIds }: { readonly orgId: string; readonly userIds: readonly string[] },
): Promise<Array<AcceptedTerms & { readonly userId: string }>> {
  if (userIds.length === 0) return [];
  return db
    .selectFrom("accepted_terms")
    .select(["user_id as userId", "version", "accepted_at as acceptedAt"])
    .where("org_id", "=", orgId)
    .where("user_id", "in", userIds)
    .orderBy("accepted_at")
    .orderBy("version")
    .execute();
}
