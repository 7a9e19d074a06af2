/** `signet doctor`: checks the database: connection, version, clock, schema, and decryption of stored keys. */
import { stat } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import type { Config } from "../../config/config.ts";
import { tryStoredCaKeys } from "../../core/device-ca/ca-key.ts";
import { createEncryption } from "../../core/encryption/encryption.ts";
import type { KeyRing } from "../../core/encryption/key-ring.ts";
import { countStale } from "../../core/encryption/renew-sealed.ts";
import { checkStoredSigningKeys } from "../../core/signing-keys/signing-keys.ts";
import { inspectDatabase } from "../../db/inspect.ts";
import { schemaState } from "../../db/migrate.ts";
import { type Database, openDatabase } from "../../db/open.ts";
import { openReplica } from "../../db/open-replica.ts";
import { readServerAddresses } from "../../db/postgres/server-addresses.ts";
import { sealedColumns } from "../../modules/sealed-columns.ts";
import { databaseLocation, errorMessage } from "../output.ts";
import { type Check, databaseClockCheck, fail, note, ok, warn } from "./check-configuration.ts";
import { movedOverChecks } from "./check-moved-over.ts";

const DATABASE = "database";

/** @param masterKeys undefined when unusable: the stored keys are then not checked */
export async function databaseChecks(config: Config, masterKeys: KeyRing | undefined): Promise<Check[]> {
  const missing = await missingDatabaseFile(config.databaseUrl);
  if (missing !== undefined)
    return [
      fail(
        DATABASE,
        `${missing} doesn't exist`,
        "Run signet start or signet migrate to create it, or set SIGNET_DATA_DIR to the right folder.",
      ),
    ];
  let database: Database | undefined;
  try {
    database = openDatabase(config.databaseUrl, 1);
    const checks = await engineChecks(database, databaseLocation(config.databaseUrl));
    const schema = await schemaCheck(database);
    return [
      ...checks,
      ...databaseTlsCheck(config.databaseUrl),
      ...(await replicaCheck(config, database)),
      schema,
      ...(schema.level === "fail"
        ? []
        : [
            await storedKeysCheck(database, masterKeys),
            ...(await staleKeyCheck(database, masterKeys)),
            ...(await movedOverChecks(database)),
          ]),
    ];
  } catch (error) {
    return [
      fail(
        DATABASE,
        `${databaseLocation(config.databaseUrl)}: ${errorMessage(error)}`,
        "Check DATABASE_URL, and that the database is running and accepts this user.",
      ),
    ];
  } finally {
    await database?.close();
  }
}

/** SQLite would create a missing file; doctor must not. */
async function missingDatabaseFile(url: string): Promise<string | undefined> {
  if (!url.startsWith("sqlite:")) return undefined;
  const path = url.slice("sqlite:".length);
  return (await stat(path).catch(() => undefined))?.isFile() ? undefined : path;
}

async function engineChecks(database: Database, place: string): Promise<Check[]> {
  const asked = Date.now();
  const { product, faults, clock } = await inspectDatabase(database);
  const answered = Date.now();
  const engine =
    faults.length === 0
      ? ok(DATABASE, `${product} at ${place}`)
      : fail(DATABASE, `${product} at ${place}`, faults.join(" "));
  if (clock === undefined) return [engine];
  return [engine, databaseClockCheck({ asked, clock, answered })];
}

/** libpq's meaning of `require`; before it was followed, the server was verified. */
export function databaseTlsCheck(url: string): Check[] {
  if (url.startsWith("sqlite:") || !readServerAddresses(url).isUnverified) return [];
  return [
    warn(
      DATABASE,
      "the connection is encrypted, but whose server it is isn't checked",
      "Set sslmode=verify-full in DATABASE_URL, with sslrootcert for a CA of your own.",
    ),
  ];
}

/** Whatever it is, the service works: what the replica should serve, the primary does. */
async function replicaCheck({ databaseReplicaUrl: url }: Config, database: Database): Promise<Check[]> {
  if (url === undefined || database.kind === "sqlite") return [];
  const subject = "database replica";
  const replica = openReplica({ url, poolSize: 1, servers: database.servers });
  try {
    // The second time, what was written before the first must have arrived.
    await replica.look();
    await delay(REPLICA_MS);
    await replica.look();
    const place = databaseLocation(url);
    const state = replica.state();
    if (state === "ok") return [ok(subject, `${place} replays what the primary writes`)];
    return [warn(subject, `${place} ${replicaFaults[state]}`, replicaRemedies[state])];
  } finally {
    await replica.close();
  }
}

/** A second is what a read may be old by. */
const REPLICA_MS = 800;

const replicaFaults = {
  behind: "is more than a second behind: everything is read from the primary",
  away: "does not answer: everything is read from the primary",
  other: "is no replica of the database in DATABASE_URL, and is never read from",
};

const replicaRemedies = {
  behind: "Look at its replication (pg_stat_replication of the primary), and at what runs on it.",
  away: "Check SIGNET_DATABASE_REPLICA_URL, and that the server runs and accepts this user.",
  other: "Set SIGNET_DATABASE_REPLICA_URL to a streaming replica of it, or unset it.",
};

async function schemaCheck(database: Database): Promise<Check> {
  const { missing, unknown } = await schemaState(database);
  // First: signet migrate would refuse it too.
  if (unknown.length > 0)
    return fail(
      "schema",
      `a newer version has applied ${unknown.join(", ")}; this one doesn't start on it`,
      "Install the version that applied it, or a newer one.",
    );
  if (missing.length > 0)
    return fail("schema", `pending migrations: ${missing.join(", ")}`, "Run signet migrate.");
  return ok("schema", "up to date");
}

/** Values that were sealed before the master key was replaced. */
async function staleKeyCheck(database: Database, masterKeys: KeyRing | undefined): Promise<Check[]> {
  if (!masterKeys || masterKeys.all().length === 1) return [];
  const encryption = createEncryption(masterKeys);
  const { sealed, renewed } = await countStale(database, sealedColumns({ encryption, masterKeys }));
  if (renewed === 0) return [ok("previous master keys", "nothing is sealed under them any more")];
  return [
    warn(
      "previous master keys",
      `${renewed} of ${sealed} values are sealed under them`,
      "Run signet master-key rotate, and keep the previous keys until it has ended.",
    ),
  ];
}

async function storedKeysCheck(database: Database, masterKeys: KeyRing | undefined): Promise<Check> {
  const subject = "signing keys";
  if (!masterKeys) return warn(subject, "not checked: no usable master key", "Fix the master key first.");
  const encryption = createEncryption(masterKeys);
  const tokens = await checkStoredSigningKeys({ database, encryption });
  const devices = await tryStoredCaKeys(database, encryption);
  const opened = tokens.opened + devices.opened;
  const failed = tokens.failed + devices.failed;
  if (failed > 0)
    return fail(
      subject,
      `the master key can't decrypt ${failed} of ${opened + failed} stored keys`,
      "Restore the master key that encrypted them: SIGNET_MASTER_KEY or the master key file.",
    );
  return opened === 0
    ? note(subject, "none yet: created on first use")
    : ok(subject, `the master key decrypts all ${opened}`);
}
