/** What a statement did, for those who ask only whether it did anything. */

type Result = { readonly numUpdatedRows: bigint } | { readonly numDeletedRows: bigint };

/** @param query an UPDATE or a DELETE */
export async function countAffected(query: { executeTakeFirstOrThrow(): Promise<Result> }): Promise<number> {
  const result = await query.executeTakeFirstOrThrow();
  return Number("numUpdatedRows" in result ? result.numUpdatedRows : result.numDeletedRows);
}

/** @param query an UPDATE or a DELETE */
export const affectsAny = async (query: Parameters<typeof countAffected>[0]): Promise<boolean> =>
  (await countAffected(query)) > 0;

/** @param query a SELECT, or a statement with RETURNING */
export const hasRow = async (query: { executeTakeFirst(): Promise<object | undefined> }): Promise<boolean> =>
  (await query.executeTakeFirst()) !== undefined;
