/** What came of the sign-ins at an identity provider, for thirty days: for who looks for a fault. */
import { newUuid } from "@signet/protocol/uuid";
import { allOf } from "../../../db/conditions.ts";
import type { Db } from "../../../db/open.ts";
import { type RecordOf, toRecord, toRow } from "../../../db/records.ts";
import type { ConnectionSignInTable } from "../../../db/tables/connections.ts";
import type { ConnectionKey } from "../connection.ts";

export type SignInLogEntry = Omit<RecordOf<ConnectionSignInTable>, "expiresAt">;

const KEPT_MS = 30 * 86_400_000;
/** Of so many the last are shown. */
export const MAX_SIGN_INS = 1_000;

export async function recordConnectionSignIn(db: Db, entry: Omit<SignInLogEntry, "id">): Promise<void> {
  const row = { ...entry, id: newUuid(), expiresAt: entry.at + KEPT_MS };
  await db.insertInto("connection_sign_in").values(toRow(row)).execute();
}

/** Newest first. */
export async function listConnectionSignIns(
  db: Db,
  { orgId, id }: ConnectionKey,
  { now, outcome }: { readonly now: number; readonly outcome?: string | undefined },
): Promise<SignInLogEntry[]> {
  let query = db
    .selectFrom("connection_sign_in")
    .selectAll()
    .where((eb) => allOf(eb, { org_id: orgId, connection_id: id }))
    .where("expires_at", ">", now);
  if (outcome !== undefined) query = query.where("outcome", "=", outcome);
  const rows = await query.orderBy("id", "desc").limit(MAX_SIGN_INS).execute();
  return rows.map((row) => toRecord(row));
}
