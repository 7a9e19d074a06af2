import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

/** One table of one-time values, with what a token endpoint needs of it at the least. */
export type BareDatabase = {
  /** Makes values in one transaction, before anything is measured. */
  seed: (count: number) => string[];
  /** Uses a value up and stores its successor, in one durable transaction; undefined when it was used already. */
  replace: (value: string) => { subject: string; next: string } | undefined;
  /** Stores a new value, in one durable transaction. */
  insert: (subject: string) => string;
  /** A point read: whose value it is. */
  find: (value: string) => string | undefined;
  close: () => void;
};

/**
 * Opens an SQLite file in `folder` with the durability that the service has (WAL, synchronous=FULL): every transaction
 * is on the disk before it is answered.
 */
export function openBareDatabase(folder: string): BareDatabase {
  const database = new DatabaseSync(join(folder, "bare.sqlite"));
  database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
  database.exec(
    "CREATE TABLE grants (value TEXT PRIMARY KEY, subject TEXT NOT NULL, used_at INTEGER) WITHOUT ROWID",
  );
  const insert = database.prepare("INSERT INTO grants (value, subject) VALUES (?, ?)");
  const use = database.prepare(
    "UPDATE grants SET used_at = ? WHERE value = ? AND used_at IS NULL RETURNING subject",
  );
  const read = database.prepare("SELECT subject FROM grants WHERE value = ?");
  const begin = database.prepare("BEGIN IMMEDIATE");
  const commit = database.prepare("COMMIT");
  const add = (subject: string) => {
    const value = randomBytes(32).toString("base64url");
    insert.run(value, subject);
    return value;
  };
  return {
    seed: (count) => {
      begin.run();
      const values = Array.from({ length: count }, (_unused, index) => add(`user-${index}`));
      commit.run();
      return values;
    },
    replace: (value) => {
      begin.run();
      const row = use.get(Date.now(), value);
      const subject = row === undefined ? undefined : String(row["subject"]);
      const next = subject === undefined ? undefined : add(subject);
      commit.run();
      return subject === undefined || next === undefined ? undefined : { subject, next };
    },
    insert: add,
    find: (value) => {
      const row = read.get(value);
      return row === undefined ? undefined : String(row["subject"]);
    },
    close: () => database.close(),
  };
}
