/** A part of a transaction that is undone alone. */
import { sql } from "kysely";
import type { Db } from "./open.ts";

/** What throws leaves nothing of its part. Parts are not nested. @param tx a transaction */
export async function inSavepoint<T>(tx: Db, work: () => Promise<T>): Promise<T> {
  await sql`savepoint part`.execute(tx);
  try {
    return await work();
  } catch (error) {
    await sql`rollback to savepoint part`.execute(tx);
    throw error;
  } finally {
    await sql`release savepoint part`.execute(tx);
  }
}

/** Runs what may fail, and undoes it in any case: its locks go with it. @param tx a transaction */
export async function undone<T>(tx: Db, work: () => Promise<T>): Promise<T> {
  await sql`savepoint rehearsal`.execute(tx);
  try {
    return await work();
  } finally {
    await sql`rollback to savepoint rehearsal`.execute(tx);
    await sql`release savepoint rehearsal`.execute(tx);
  }
}
