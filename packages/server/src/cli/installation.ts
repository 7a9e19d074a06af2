/** What a command finds before it opens the service: a database and a key that are there, and the address of their server. */
import { readFile, rename, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Config } from "../config/config.ts";
import { MASTER_KEY_FILE } from "../core/encryption/folder-keys.ts";
import { findMasterKeys } from "../core/encryption/master-key.ts";
import { schemaState } from "../db/migrate.ts";
import { timeline } from "../db/migrations/timeline.ts";
import { openDatabase } from "../db/open.ts";
import { databaseLocation } from "./output.ts";

const FIRST = "Run signet start or signet org create first";

/** Only `org create`, `migrate` and `start` begin an installation. @throws when there is none */
export async function requireInstallation(config: Config): Promise<void> {
  await requireDatabase(config);
  if ((await findMasterKeys(config)) === undefined)
    throw new Error(
      `there is no master key at ${join(config.dataDir, MASTER_KEY_FILE)}: set SIGNET_MASTER_KEY, or SIGNET_DATA_DIR to the folder that has the file`,
    );
}

/** For what needs no key. @throws when there is no database, or nothing in it */
export async function requireDatabase(config: Config): Promise<void> {
  const { databaseUrl } = config;
  const place = databaseLocation(databaseUrl);
  if (databaseUrl.startsWith("sqlite:")) {
    const isThere = (await stat(place).catch(() => undefined))?.isFile() ?? place === ":memory:";
    if (!isThere)
      throw new Error(
        `there is no database at ${place}. ${FIRST}, or set SIGNET_DATA_DIR to the folder that has it${await developmentHint()}`,
      );
  } else if (!(await hasSchema(config)))
    throw new Error(`the database ${place} is empty. ${FIRST}, or set DATABASE_URL to the right one`);
}

/** Of `signet dev` in the same folder. */
const DEVELOPMENT_DATABASE = join(".signet-dev", "signet.db");

async function developmentHint(): Promise<string> {
  const isThere = await stat(DEVELOPMENT_DATABASE).catch(() => undefined);
  return isThere === undefined ? "" : `: that of signet dev is .signet-dev`;
}

async function hasSchema({ databaseUrl }: Config): Promise<boolean> {
  const database = openDatabase(databaseUrl, 1);
  try {
    return (await schemaState(database)).missing.length < timeline.length;
  } finally {
    await database.close();
  }
}

const SERVER_FILE = "server.json";

/** What commands in a data folder know of its server. */
interface ServerNote {
  readonly baseUrl?: string;
  /** See RecordDeps. */
  readonly isDemo: boolean;
}

/** Tells commands in the same data folder under which address its server runs, and whether as a demo. Replaced atomically. */
export async function writeServerNote({ dataDir, baseUrl }: Config, isDemo: boolean): Promise<void> {
  const path = join(dataDir, SERVER_FILE);
  const half = `${path}.${process.pid}`;
  await writeFile(half, `${JSON.stringify({ baseUrl, ...(isDemo ? { demo: true } : {}) })}\n`, {
    mode: 0o600,
  });
  await rename(half, path);
}

/** The configuration with the base URL of the server that ran last, unless the environment sets one, and whether it was a demo. */
export async function asServed(
  config: Config,
): Promise<{ readonly config: Config; readonly isDemo: boolean }> {
  const { baseUrl, isDemo } = serverNote(
    await readFile(join(config.dataDir, SERVER_FILE), "utf8").catch(() => ""),
  );
  return { config: config.isBaseUrlSet || baseUrl === undefined ? config : { ...config, baseUrl }, isDemo };
}

function serverNote(text: string): ServerNote {
  try {
    const { baseUrl, demo } = JSON.parse(text) as { baseUrl?: unknown; demo?: unknown };
    const isAddress = typeof baseUrl === "string" && URL.parse(baseUrl)?.origin === baseUrl;
    return { ...(isAddress ? { baseUrl } : {}), isDemo: demo === true };
  } catch {
    return { isDemo: false };
  }
}
