/** Stores the images of organisations. */
import { allOf } from "../../db/conditions.ts";
import type { Db } from "../../db/open.ts";

export interface StoredImage {
  readonly type: string;
  readonly bytes: Buffer;
}

/** The same content again changes nothing. */
export async function insertImage(
  db: Db,
  {
    orgId,
    digest,
    type,
    bytes,
    createdAt,
  }: StoredImage & { orgId: string; digest: string; createdAt: number },
): Promise<void> {
  const content = bytes.toString("base64");
  await db
    .insertInto("organisation_image")
    .values({ org_id: orgId, digest, content_type: type, content, created_at: createdAt })
    .onConflict((conflict) => conflict.columns(["org_id", "digest"]).doNothing())
    .execute();
}

export async function findImage(
  db: Db,
  { orgId, digest }: { orgId: string; digest: string },
): Promise<StoredImage | undefined> {
  const row = await db
    .selectFrom("organisation_image")
    .select(["content_type", "content"])
    .where((eb) => allOf(eb, { org_id: orgId, digest }))
    .executeTakeFirst();
  return row && { type: row.content_type, bytes: Buffer.from(row.content, "base64") };
}

/** Deletes what the organisation's settings name no longer. */
export async function deleteUnnamedImages(db: Db, orgId: string, named: readonly string[]): Promise<void> {
  const unnamed = db.deleteFrom("organisation_image").where("org_id", "=", orgId);
  await (named.length === 0 ? unnamed : unnamed.where("digest", "not in", named)).execute();
}
