/** Opens the database: alone where it has to be, migrated, with the master key that its keys were encrypted with. */
import type { Config } from "../config/config.ts";
import { version } from "../config/version.ts";
import { requireOpeningCaKey } from "../core/device-ca/ca-key.ts";
import { listSealedCaKeys } from "../core/device-ca/device-ca.store.ts";
import type { Encryption } from "../core/encryption/encryption.ts";
import { findAnySigningKey } from "../core/signing-keys/signing-keys.store.ts";
import { requireReadableSigningKey } from "../core/signing-keys/signing-keys.ts";
import { type ChangeFeed, openChangeFeed } from "../db/change-feed.ts";
import { migrate, schemaState } from "../db/migrate.ts";
import { observingStatements, type StatementObserver } from "../db/observed/statement-observer.ts";
import { type Database, openDatabase } from "../db/open.ts";
import { openReplica } from "../db/open-replica.ts";
import type { Replica, ReplicaState } from "../db/replica.ts";
import { lockForServing } from "../db/sqlite/serving-lock.ts";

export interface Storage {
  readonly database: Database;
  readonly changes: ChangeFeed;
  /** Migrations applied at this start. */
  readonly migrated: readonly string[];
  close(): Promise<void>;
}

/**
 * Before a first master key is made: keys that another one encrypted would stay closed, with a wrong key file in its place.
 * @throws what keeps the database from answering, or from taking writes; or that it has encrypted keys
 */
export async function requireNoEncryptedKeys(url: string): Promise<void> {
  const database = openDatabase(url, 1);
  try {
    await database.ping();
    const { missing } = await schemaState(database);
    if (missing.includes(DEVICE_IDENTITY)) return;
    const keys = [
      await findAnySigningKey(database.query),
      ...(await listSealedCaKeys(database.query, { limit: 1 })),
    ];
    if (keys.some((key) => key !== undefined))
      throw new Error(
        "there is no master key, but keys in the database were encrypted with one: set SIGNET_MASTER_KEY, or put its master.key back into the data folder (SIGNET_DATA_DIR)",
      );
  } finally {
    await database.close();
  }
}

/** The migration that makes the younger one of the two tables with encrypted keys. */
const DEVICE_IDENTITY = "0005-device-identity";

type OwnDialect = Parameters<NonNullable<Parameters<typeof openDatabase>[2]>>[0];

export interface StorageOptions {
  /** This process serves: no other may serve the same SQLite file. */
  readonly isServer?: boolean;
  /** For tests, which observe every statement. */
  readonly around?: Parameters<typeof openDatabase>[2] | undefined;
  readonly statements?: StatementObserver | undefined;
  /** For tests, in place of the one of the configuration; its owner closes it. */
  readonly replica?: Replica | undefined;
  /** The replica serves, or does not any more. */
  onReplicaState?(state: ReplicaState): void;
}

/** @throws what kept it from opening; nothing is left open, which would keep the process from its end */
export async function openStorage(
  config: Pick<Config, "databaseUrl" | "databasePoolSize"> &
    Partial<Pick<Config, "databaseListenUrl" | "databaseReplicaUrl">>,
  encryption: Encryption,
  { isServer = false, around = (dialect) => dialect, statements, ...forReplica }: StorageOptions,
): Promise<Storage> {
  const closing: (() => void | Promise<void>)[] = [];
  const close = async () => {
    for (const step of closing.splice(0).reverse()) await step();
  };
  try {
    if (isServer) closing.push(lockDatabase(config.databaseUrl));
    const observed = (dialect: OwnDialect) =>
      around(statements ? observingStatements(dialect, statements) : dialect);
    const opened = openDatabase(
      config.databaseUrl,
      config.databasePoolSize,
      observed,
      config.databaseListenUrl,
    );
    closing.push(() => opened.close());
    const own = replicaOf(opened, config, observed, forReplica.onReplicaState);
    if (own) closing.push(() => own.close());
    const replica = forReplica.replica ?? own;
    const abandon = () => {
      opened.abandon();
      replica?.abandon();
    };
    const database: Database = { ...opened, replica, abandon };
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

function replicaOf(
  primary: Database,
  { databaseReplicaUrl: url, databasePoolSize: poolSize }: Parameters<typeof openStorage>[0],
  around: (dialect: OwnDialect) => OwnDialect,
  onState: StorageOptions["onReplicaState"],
): Replica | undefined {
  if (url === undefined || primary.kind === "sqlite") return undefined;
  return openReplica({ url, poolSize, servers: primary.servers, around, onState });
}

/** PostgreSQL serves several. @returns the release. @throws AlreadyServed */
const lockDatabase = (url: string): (() => void) =>
  url.startsWith("sqlite:") ? lockForServing(url.slice("sqlite:".length)) : () => {};
