/** Writes a backup: every row as it was at one moment. */
import type { Database } from "../../db/open.ts";
import { readSnapshot } from "../../db/snapshot.ts";
import type { Encryption } from "../encryption/encryption.ts";
import type { KeyRing } from "../encryption/key-ring.ts";
import { appliedMigrations, backedUpTables, readRows } from "./backup.store.ts";
import {
  BACKUP_FORMAT,
  type BackupHeader,
  type BackupTrailer,
  keyRowName,
  lineMacs,
  type Row,
} from "./backup-format.ts";

export interface BackupDeps {
  readonly database: Database;
  readonly encryption: Encryption;
  readonly masterKeys: KeyRing;
}

const PAGE = 500;

/**
 * @param write resolves when the next line may come
 * @returns the number of rows, by table
 */
export function writeBackup(
  { database, encryption, masterKeys }: BackupDeps,
  { version, now }: { readonly version: string; readonly now: number },
  write: (text: string) => Promise<void>,
): Promise<Record<string, number>> {
  return readSnapshot(database, async (db) => {
    const createdAt = new Date(now).toISOString();
    const macs = lineMacs(masterKeys);
    const writeLine = (content: unknown) => {
      const line = JSON.stringify(content);
      macs.add(line);
      return write(`${line}\n`);
    };
    const header: BackupHeader = {
      ...{ signet: "backup", format: BACKUP_FORMAT, version, schema: await appliedMigrations(db), createdAt },
      key: encryption.seal(Buffer.from(createdAt), keyRowName(createdAt)),
    };
    await writeLine(header);
    const counts: Record<string, number> = {};
    for (const table of backedUpTables) {
      let page: readonly Row[] = [];
      do {
        page = await readRows(db, table, { after: page.at(-1), limit: PAGE });
        for (const row of page) await writeLine([table.name, row]);
        if (page.length > 0) counts[table.name] = (counts[table.name] ?? 0) + page.length;
      } while (page.length === PAGE);
    }
    const rows = Object.values(counts).reduce((sum, count) => sum + count, 0);
    const trailer: BackupTrailer = { rows, mac: macs.own() };
    await write(`${JSON.stringify(trailer)}\n`);
    return counts;
  });
}
