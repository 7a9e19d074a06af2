/** Opens the database: alone where it has to be, migrated, with the master key that its keys were encrypted with. */
import type { Config } from "../config/config.ts";
import { version } from "../config/version.ts";
import { requireOpeningCaKey } from "../core/device-ca/ca-key.ts";
import type { Encryption } from "../core/encryption/encryption.ts";
import { requireReadableSigningKey } from "../core/signing-keys/signing-keys.ts";
import { type ChangeFeed, openChangeFeed } from "../db/change-feed.ts";
import { migrate } from "../db/migrate.ts";
import { observingStatements, type StatementObserver } from "../db/observed/statement-observer.ts";
import { type Database, openDatabase } from "../db/open.ts";
import { lockForServing } from "../db/sqlite/serving-lock.ts";

export interface Storage {
  readonly database: Database;
  readonly changes: ChangeFeed;
  /** Migrations applied at this start. */
  readonly migrated: readonly string[];
  close(): Promise<void>;
}

export interface StorageOptions {
  /** This process serves: no other may serve the same SQLite file. */
  readonly isServer?: boolean;
  /** For tests, which observe every statement. */
  readonly around?: Parameters<typeof openDatabase>[2] | undefined;
  readonly statements?: StatementObserver | undefined;
}

/** @throws what kept it from opening; nothing is left open, which would keep the process from its end */
export async function openStorage(
  config: Pick<Config, "databaseUrl" | "databasePoolSize"> & Partial<Pick<Config, "databaseListenUrl">>,
  encryption: Encryption,
  { isServer = false, around = (dialect) => dialect, statements }: StorageOptions,
): Promise<Storage> {
  const closing: (() => void | Promise<void>)[] = [];
  const close = async () => {
    for (const step of closing.splice(0).reverse()) await step();
  };
  try {
    if (isServer) closing.push(lockDatabase(config.databaseUrl));
    const database = openDatabase(
      config.databaseUrl,
      config.databasePoolSize,
      (dialect) => around(statements ? observingStatements(dialect, statements) : dialect),
      config.databaseListenUrl,
    );
    closing.push(() => database.close());
    const migrated = await migrate(database, version);
    await requireReadableSigningKey(database.query, encryption);
    await requireOpeningCaKey(database.query, encryption);
    const changes = await openChangeFeed(database);
    closing.push(() => changes.close());
    return { database, changes, migrated, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** PostgreSQL serves several. @returns the release. @throws AlreadyServed */
const lockDatabase = (url: string): (() => void) =>
  url.startsWith("sqlite:") ? lockForServing(url.slice("sqlite:".length)) : () => {};
