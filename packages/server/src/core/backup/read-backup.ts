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
  let header: BackupHeader | undefined;
  for await (const line of provenLines(lines, masterKeys)) header ??= readHeader(line, encryption);
  if (!header) throw cutOff();
  return header;
}

/**
 * All lines but the last one, which proves them.
 * @throws UnusableBackup at the end, when it doesn't
 */
async function* provenLines(lines: AsyncIterable<string>, masterKeys: KeyRing): AsyncGenerator<string> {
  const macs = lineMacs(masterKeys);
  let last: string | undefined;
  let rows = -1;
  for await (const line of lines) {
    if (last !== undefined) {
      macs.add(last);
      rows++;
      yield last;
    }
    last = line;
  }
  const trailer = parse(last ?? "") as { rows?: unknown; mac?: unknown };
  if (trailer.rows !== rows || typeof trailer.mac !== "string") throw cutOff();
  if (!macs.isOwn(trailer.mac))
    throw new UnusableBackup("the backup was changed since it was written: its last line doesn't prove it");
}

const cutOff = () => new UnusableBackup("the backup ends before its last line: it was cut off");

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
 * @param lines of a backup that has been checked: they are read again, and proven again, as the file may have been replaced meanwhile
 * @param header of the backup that was checked
 * @returns the number of rows
 * @throws UnusableBackup, which must end the transaction
 */
export async function insertBackup(
  tx: Db,
  lines: AsyncIterable<string>,
  { header, masterKeys }: { header: BackupHeader; masterKeys: KeyRing },
): Promise<number> {
  const tables = new Set(backedUpTables.map(({ name }) => name));
  let inserted = 0;
  let batch: { table: string; rows: Row[] } = { table: "", rows: [] };
  const insert = async () => {
    await insertRows(tx, batch.table, batch.rows);
    inserted += batch.rows.length;
  };
  for await (const line of provenLines(lines, masterKeys)) {
    const content = parse(line);
    if (!Array.isArray(content)) {
      if ((content as Partial<BackupHeader>).key !== header.key)
        throw new UnusableBackup("the file was replaced by another backup while it was read");
      continue;
    }
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
