/** Rows of clients that are known by a metadata document. */
import type { ExpressionBuilder } from "kysely";
import { allOf } from "../../db/conditions.ts";
import type { Db } from "../../db/open.ts";
import type { Schema } from "../../db/schema.ts";

export async function countDocumentClients(db: Db, orgId: string): Promise<number> {
  const { count } = await db
    .selectFrom("application")
    .select((eb) => eb.fn.countAll().as("count"))
    .where((eb) => allOf(eb, { org_id: orgId, source: "metadata-document" }))
    .executeTakeFirstOrThrow();
  return Number(count);
}

const heldIn = (
  eb: ExpressionBuilder<Schema, "application">,
  table: "authorization_code" | "consent" | "token_family",
  orgId: string,
) =>
  eb.exists(
    eb
      .selectFrom(table)
      .select(`${table}.application_id`)
      .where(`${table}.org_id`, "=", orgId)
      .whereRef(`${table}.application_id`, "=", "application.id"),
  );

/**
 * Deletes those that are older and have neither code, consent nor tokens: their documents make them anew.
 * @returns how many
 */
export async function deleteUnusedClients(
  tx: Db,
  { orgId, before, limit }: { readonly orgId: string; readonly before: number; readonly limit: number },
): Promise<number> {
  const unused = tx
    .selectFrom("application")
    .select("id")
    .where((eb) => allOf(eb, { org_id: orgId, source: "metadata-document" }))
    .where("updated_at", "<", before)
    .where((eb) => eb.not(heldIn(eb, "authorization_code", orgId)))
    .where((eb) => eb.not(heldIn(eb, "consent", orgId)))
    .where((eb) => eb.not(heldIn(eb, "token_family", orgId)))
    .orderBy("updated_at")
    .limit(limit);
  const { numDeletedRows } = await tx
    .deleteFrom("application")
    .where("org_id", "=", orgId)
    .where("id", "in", unused)
    .executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}

export interface DocumentClient {
  /** The address of its document. */
  readonly id: string;
  readonly name: string;
  /** When its document was read and differed. */
  readonly updatedAt: number;
}

/** The newest first. */
export async function listDocumentClients(db: Db, orgId: string, limit: number): Promise<DocumentClient[]> {
  return db
    .selectFrom("application")
    .select(["id", "name", "updated_at as updatedAt"])
    .where((eb) => allOf(eb, { org_id: orgId, source: "metadata-document" }))
    .orderBy("updated_at", "desc")
    .orderBy("id")
    .limit(limit)
    .execute();
}
