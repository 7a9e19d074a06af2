/**
 * The newest tree of each log that this witness has cosigned. A SQLite file whose triggers refuse a step back: what a cosignature says
 * ("the largest consistent tree that I have seen") stays true after a crash, and with two processes on one file.
 */
import { closeSync, existsSync, openSync } from "node:fs";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { syncFolder } from "@signet/cli-runtime/private-file";
import type { WitnessedTree } from "@signet/protocol/ledger/witness-rules";

export interface WitnessState {
  latestOf(origin: string): WitnessedTree | undefined;
  keep(origin: string, tree: WitnessedTree): void;
  /** Nobody else writes meanwhile; what is kept is on disk when this returns, or not at all when the work throws. */
  transaction<Result>(work: () => Result): Result;
  close(): void;
}

const BUSY_MS = 5_000;

const schema = `
  CREATE TABLE witness (one INTEGER PRIMARY KEY CHECK (one = 1), verifier_key TEXT NOT NULL) STRICT;
  CREATE TABLE trees (origin TEXT PRIMARY KEY, size INTEGER NOT NULL CHECK (size >= 0),
    root BLOB NOT NULL CHECK (length(root) = 32)) STRICT, WITHOUT ROWID;
  CREATE TRIGGER trees_only_grow BEFORE UPDATE ON trees
    WHEN NEW.origin <> OLD.origin OR NEW.size < OLD.size OR (NEW.size = OLD.size AND NEW.root <> OLD.root)
    BEGIN SELECT RAISE(ABORT, 'a witnessed tree only grows'); END;
  CREATE TRIGGER trees_stay BEFORE DELETE ON trees
    BEGIN SELECT RAISE(ABORT, 'a witnessed tree is never forgotten'); END;`;

/** @throws EEXIST: what a witness has seen is never overwritten */
export async function createWitnessState(file: string, verifierKey: string): Promise<void> {
  closeSync(openSync(file, "wx", 0o600));
  const database = openFile(file);
  try {
    database.exec(`BEGIN IMMEDIATE; ${schema}`);
    database.prepare("INSERT INTO witness (one, verifier_key) VALUES (1, ?)").run(verifierKey);
    database.exec("COMMIT");
  } finally {
    database.close();
  }
  await syncFolder(path.dirname(file));
}

/** @throws Error for a file that is missing, damaged or another witness's: this one would cosign any history */
export function openWitnessState(file: string, verifierKey: string): WitnessState {
  // SQLite would create it.
  if (!existsSync(file))
    throw new Error(`${file} is missing: a witness that has forgotten what it cosigned needs a new key`);
  const database = openFile(file);
  try {
    requireOwner(database, file, verifierKey);
    return stateOf(database);
  } catch (error) {
    database.close();
    throw error;
  }
}

function openFile(file: string): DatabaseSync {
  const database = new DatabaseSync(file, { timeout: BUSY_MS });
  // One file, without a log beside it that a copy would leave behind; EXTRA also syncs the folder when the journal goes.
  database.exec("PRAGMA journal_mode = DELETE; PRAGMA synchronous = EXTRA;");
  return database;
}

function requireOwner(database: DatabaseSync, file: string, verifierKey: string): void {
  let owner: unknown;
  try {
    owner = database.prepare("SELECT verifier_key FROM witness").get()?.["verifier_key"];
  } catch (cause) {
    throw new Error(`${file} is not the state of a witness, or damaged`, { cause });
  }
  if (owner !== verifierKey) throw new Error(`${file} is the state of another witness: ${String(owner)}`);
}

function stateOf(database: DatabaseSync): WitnessState {
  const find = database.prepare("SELECT size, root FROM trees WHERE origin = ?");
  const upsert = database.prepare(
    `INSERT INTO trees (origin, size, root) VALUES (?, ?, ?)
     ON CONFLICT (origin) DO UPDATE SET size = excluded.size, root = excluded.root`,
  );
  return {
    latestOf: (origin) => {
      const { size, root } = find.get(origin) ?? {};
      return typeof size === "number" && root instanceof Uint8Array
        ? { size, root: Buffer.from(root) }
        : undefined;
    },
    keep: (origin, { size, root }) => void upsert.run(origin, size, root),
    transaction: (work) => {
      database.exec("BEGIN IMMEDIATE");
      try {
        const result = work();
        database.exec("COMMIT");
        return result;
      } catch (error) {
        if (database.isTransaction) database.exec("ROLLBACK");
        throw error;
      }
    },
    close: () => database.close(),
  };
}
