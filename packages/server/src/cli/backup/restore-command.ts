/** `signet restore`: an installation from a backup, into an empty data folder or database. */
import { statSync } from "node:fs";
import { mkdir, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import type { Config } from "../../config/config.ts";
import { version } from "../../config/version.ts";
import { appliedMigrations, hasRows } from "../../core/backup/backup.store.ts";
import { readBackupFile } from "../../core/backup/backup-file.ts";
import type { BackupHeader } from "../../core/backup/backup-format.ts";
import { checkBackup, insertBackup } from "../../core/backup/read-backup.ts";
import { createEncryption } from "../../core/encryption/encryption.ts";
import { MASTER_KEY_FILE } from "../../core/encryption/folder-keys.ts";
import { findMasterKeys } from "../../core/encryption/master-key.ts";
import { syncFolder } from "../../core/sync-folder.ts";
import { migrate, schemaState } from "../../db/migrate.ts";
import { timeline } from "../../db/migrations/timeline.ts";
import { type Database, type Db, openDatabase, openWithoutTimeout } from "../../db/open.ts";
import { type Call, type Command, jsonOption, optionalText, requiredText } from "../command.ts";
import { databaseLocation, printResult, readOptionFile } from "../output.ts";
import { putInPlace } from "./put-in-place.ts";

export const restoreCommand: Command = {
  name: "restore",
  summary: "restore a backup into an empty data folder or database; needs the backup's master key",
  usage: "--file FILE [--identity FILE] [--json]",
  options: {
    file: { value: "FILE", help: "file of signet backup", required: true },
    identity: { value: "FILE", help: "file with the age identity that the backup is encrypted for" },
    ...jsonOption,
  },
  examples: ["SIGNET_DATA_DIR=restored signet restore --file signet.backup"],
  mayBegin: true,
  run: restore,
};

const MAX_IDENTITIES_BYTES = 64 * 1024;

/** @returns the number of rows */
type Insert = (tx: Db) => Promise<number>;

async function restore(call: Call): Promise<number> {
  const { config, values } = call;
  const file = requiredText(values, "file");
  const identities = identitiesIn(optionalText(values, "identity"));
  if (!statSync(file, { throwIfNoEntry: false })?.isFile()) throw new Error(`${file} is not there`);
  const masterKeys = await findMasterKeys(config);
  if (!masterKeys)
    throw new Error(
      `there is no master key: set SIGNET_MASTER_KEY, or put the ${MASTER_KEY_FILE} of the backup into ${config.dataDir}`,
    );
  await requireNoFile(config);
  const lines = () => readBackupFile(file, identities);
  const header = await checkBackup(lines(), { encryption: createEncryption(masterKeys), masterKeys });
  const insert: Insert = (tx) => insertBackup(tx, lines(), { header, masterKeys });
  const rows = await (config.databaseUrl.startsWith("sqlite:")
    ? restoreFile(config, header, insert)
    : restoreServer(config, header, insert));
  const { createdAt } = header;
  return printResult(call, { rows, createdAt, database: databaseLocation(config.databaseUrl) }, () => [
    `Restored ${rows} rows of ${createdAt} into ${databaseLocation(config.databaseUrl)}.`,
    "Refresh tokens that were used since then count as replays: those users sign in again.",
  ]);
}

function identitiesIn(path: string | undefined): string[] {
  if (path === undefined) return [];
  return readOptionFile("identity", path, MAX_IDENTITIES_BYTES, (content) => {
    const identities = content
      .toString("utf8")
      .split("\n")
      .map((line) => line.trim())
      .filter((line) => line !== "" && !line.startsWith("#"));
    if (identities.length === 0) throw new Error("the file has no age identity (AGE-SECRET-KEY-1…)");
    return identities;
  });
}

/**
 * @throws where a restore would replace something, or where SQLite would: it writes the log of a database that is gone over the one
 * that takes its place (https://sqlite.org/howtocorrupt.html §1.4)
 */
async function requireNoFile({ databaseUrl }: Config): Promise<void> {
  if (!databaseUrl.startsWith("sqlite:")) return;
  const path = databaseLocation(databaseUrl);
  for (const one of [path, `${path}-wal`, `${path}-journal`])
    if (await stat(one).catch(() => undefined))
      throw new Error(
        `there is ${one === path ? "a database" : "what a database left"} at ${one}: restore into an empty folder (SIGNET_DATA_DIR)`,
      );
}

/** Into a file beside the one it becomes when it is whole. */
async function restoreFile(config: Config, header: BackupHeader, insert: Insert): Promise<number> {
  const path = databaseLocation(config.databaseUrl);
  const half = `${path}.restoring`;
  const files = [half, `${half}-wal`, `${half}-shm`];
  const clear = () => Promise.all(files.map((one) => rm(one, { force: true })));
  await mkdir(config.dataDir, { recursive: true, mode: 0o700 });
  await clear();
  try {
    const database = openDatabase(`sqlite:${half}`);
    let rows: number;
    try {
      rows = await fill(database, database, header, insert);
    } finally {
      await database.close();
    }
    await requireNoFile(config);
    await putInPlace(half, path);
    await syncFolder(dirname(path));
    return rows;
  } finally {
    await clear();
  }
}

async function restoreServer({ databaseUrl }: Config, header: BackupHeader, insert: Insert): Promise<number> {
  const database = openDatabase(databaseUrl, 2);
  try {
    await requireEmptyServer(database, databaseLocation(databaseUrl), header);
    const unlimited = openWithoutTimeout((database as Extract<Database, { kind: "postgres" }>).servers);
    try {
      return await fill(database, unlimited, header, insert);
    } finally {
      await unlimited.close();
    }
  } finally {
    await database.close();
  }
}

async function requireEmptyServer(database: Database, place: string, header: BackupHeader): Promise<void> {
  const { missing } = await schemaState(database);
  if (missing.length === timeline.length) return;
  const applied = await appliedMigrations(database.query);
  const newer = applied.filter((name) => !header.schema.includes(name));
  if (missing.length > 0 || newer.length > 0 || (await hasRows(database.query)))
    throw new Error(`the database ${place} is not empty: restore into an empty one (DATABASE_URL)`);
}

/** As it was, then migrated to what this version needs. */
async function fill(
  database: Database,
  { transaction }: Pick<Database, "transaction">,
  { schema }: BackupHeader,
  insert: Insert,
): Promise<number> {
  await migrate(database, version, schema);
  const rows = await transaction(insert);
  await migrate(database, version);
  return rows;
}
