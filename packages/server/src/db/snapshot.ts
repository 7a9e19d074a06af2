/** The whole database as it was at one moment, read while others write. */
import { sql } from "kysely";
import { type Database, type Db, openDatabase, openWithoutTimeout } from "./open.ts";

/** @param work reads only; what it reads is of one moment, however long it takes */
export async function readSnapshot<T>(database: Database, work: (db: Db) => Promise<T>): Promise<T> {
  if (database.kind === "sqlite") {
    const path = database.file.location();
    if (!path) throw new Error("a database in memory has no snapshot");
    const reader = openDatabase(`sqlite:${path}`) as Extract<Database, { kind: "sqlite" }>;
    try {
      // A deferred transaction of SQLite's log mode: writers go on, and aren't seen.
      reader.file.exec("begin deferred");
      return await work(reader.query);
    } finally {
      if (reader.file.isTransaction) reader.file.exec("rollback");
      await reader.close();
    }
  }
  const unlimited = openWithoutTimeout(database.servers);
  try {
    return await unlimited.transaction(async (tx) => {
      await sql`set transaction isolation level repeatable read, read only`.execute(tx);
      return work(tx);
    });
  } finally {
    await unlimited.close();
  }
}
