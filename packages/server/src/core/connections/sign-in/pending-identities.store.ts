/** First sign-ins at an identity provider that wait for what the person has to show: each belongs to one browser, for half an hour. */
import { affectsAny } from "../../../db/affected.ts";
import { allOf } from "../../../db/conditions.ts";
import type { Db } from "../../../db/open.ts";
import { type RecordOf, toRecord, toRow } from "../../../db/records.ts";
import type { PendingIdentityTable } from "../../../db/tables/connections.ts";
import type { UpstreamIdentity } from "./link-identity.ts";

export const PENDING_IDENTITY_MS = 30 * 60_000;

export interface PendingIdentity extends Omit<RecordOf<PendingIdentityTable>, "identity"> {
  /** With the issuer that has vouched for it. */
  readonly identity: UpstreamIdentity & { readonly issuer: string };
}

export type PendingIdentityKey = Pick<PendingIdentity, "orgId" | "holderHash">;

export async function insertPendingIdentity(db: Db, pending: PendingIdentity): Promise<void> {
  const row = toRow({ ...pending, identity: JSON.stringify(pending.identity) });
  await db.insertInto("pending_identity").values(row).execute();
}

export async function findPendingIdentity(
  db: Db,
  { orgId, holderHash }: PendingIdentityKey,
  now: number,
): Promise<PendingIdentity | undefined> {
  const row = await db
    .selectFrom("pending_identity")
    .selectAll()
    .where((eb) => allOf(eb, { org_id: orgId, holder_hash: holderHash }))
    .where("expires_at", ">", now)
    .executeTakeFirst();
  if (!row) return undefined;
  return { ...toRecord(row), identity: JSON.parse(row.identity) as PendingIdentity["identity"] };
}

/** @returns false when it has ended */
export const updatePendingIdentity = (
  db: Db,
  { orgId, holderHash }: PendingIdentityKey,
  change: Partial<Pick<PendingIdentity, "email" | "askedAt">>,
): Promise<boolean> =>
  affectsAny(
    db
      .updateTable("pending_identity")
      .set(toRow(change))
      .where((eb) => allOf(eb, { org_id: orgId, holder_hash: holderHash })),
  );

/** @returns false when it has ended: whoever comes second goes no further */
export const takePendingIdentity = (db: Db, { orgId, holderHash }: PendingIdentityKey): Promise<boolean> =>
  affectsAny(
    db.deleteFrom("pending_identity").where((eb) => allOf(eb, { org_id: orgId, holder_hash: holderHash })),
  );
