/** Reads a backup: looked through to its end before anything is written, so that a bad one changes nothing. */
import { timeline } from "../../db/migrations/timeline.ts";
import type { Db } from "../../db/open.ts";
import type { Encryption } from "../encryption/encryption.ts";
import type { KeyRing } from "../encryption/key-ring.ts";
import { backedUpTables, insertRows } from "./backup.store.ts";
import { BACKUP_FORMAT, type BackupHeader, keyRowName, lineMacs, type Row } from "./backup-format.ts";

/** Why a file can't be restored: a sentence. */
export class UnusableBackup extends Error {}

/** @param lines of the backup @throws UnusableBackup */
export async function checkBackup(
  lines: AsyncIterable<string>,
  { encryption, masterKeys }: { encryption: Encryption; masterKeys: KeyRing },
): Promise<BackupHeader> {
  const macs = lineMacs(masterKeys);
  let header: BackupHeader | undefined;
  let last: string | undefined;
  let rows = -1;
  for await (const line of lines) {
    if (last !== undefined) {
      macs.add(last);
      rows++;
    }
    header ??= readHeader(line, encryption);
    last = line;
  }
  const trailer = parse(last ?? "") as { rows?: unknown; mac?: unknown };
  if (!header || rows < 0 || trailer.rows !== rows || typeof trailer.mac !== "string")
    throw new UnusableBackup("the backup ends before its last line: it was cut off");
  if (!macs.isOwn(trailer.mac))
    throw new UnusableBackup("the backup was changed since it was written: its last line doesn't prove it");
  return header;
}

function readHeader(line: string, encryption: Encryption): BackupHeader {
  const header = parse(line) as Partial<BackupHeader>;
  if (header.signet !== "backup" || !Array.isArray(header.schema) || typeof header.key !== "string")
    throw new UnusableBackup("it is no backup of Signet");
  const known = new Set(timeline.map(({ name }) => name));
  const unknown = header.schema.filter((name) => !known.has(name));
  if (header.format !== BACKUP_FORMAT || unknown.length > 0)
    throw new UnusableBackup(
      `the backup was written by a newer version of Signet: install version ${String(header.version)} or newer`,
    );
  try {
    encryption.open(header.key, keyRowName(String(header.createdAt)));
  } catch {
    throw new UnusableBackup(
      "the backup was written with another master key: set SIGNET_MASTER_KEY to that one, or put its master.key into the data folder",
    );
  }
  return header as BackupHeader;
}

const BATCH = 200;

/**
 * Inserts every row, in the transaction.
 * @param lines of a backup that has been checked
 * @returns the number of rows
 */
export async function insertBackup(tx: Db, lines: AsyncIterable<string>): Promise<number> {
  const tables = new Set(backedUpTables.map(({ name }) => name));
  let inserted = 0;
  let batch: { table: string; rows: Row[] } = { table: "", rows: [] };
  const insert = async () => {
    await insertRows(tx, batch.table, batch.rows);
    inserted += batch.rows.length;
  };
  for await (const line of lines) {
    const content = parse(line);
    if (!Array.isArray(content)) continue;
    const [table, row] = content as [string, Row];
    if (!tables.has(table)) throw new UnusableBackup(`the backup has rows of an unknown table "${table}"`);
    if (table !== batch.table || batch.rows.length >= BATCH) {
      await insert();
      batch = { table, rows: [] };
    }
    batch.rows.push(row);
  }
  await insert();
  return inserted;
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line) ?? {};
  } catch {
    throw new UnusableBackup("it is no backup of Signet, or was cut off");
  }
}
