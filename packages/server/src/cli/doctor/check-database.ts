/** `signet doctor`'s checks of the database: reachable, recent enough, migrated, its clock, and its keys ours to open. */
import { stat } from "node:fs/promises";
import type { Config } from "../../config/config.ts";
import { tryStoredCaKeys } from "../../core/device-ca/ca-key.ts";
import { createEncryption } from "../../core/encryption/encryption.ts";
import { tryStoredKeys } from "../../core/signing-keys/signing-keys.ts";
import { inspectDatabase } from "../../db/inspect.ts";
import { schemaState } from "../../db/migrate.ts";
import { type Database, openDatabase } from "../../db/open.ts";
import { reasonOf } from "../reason.ts";
import { type Check, databaseClockCheck, fail, note, ok, warn } from "./check-configuration.ts";

const DATABASE = "database";

/** @param masterKey undefined when there is none that may be used: the stored keys are then not tried */
export async function databaseChecks(config: Config, masterKey: Buffer | undefined): Promise<Check[]> {
  const missing = await missingFile(config.databaseUrl);
  if (missing !== undefined)
    return [
      fail(
        DATABASE,
        `there is no ${missing}`,
        "signet start or signet migrate makes it; or set SIGNET_DATA_DIR to the right folder.",
      ),
    ];
  let database: Database | undefined;
  try {
    database = openDatabase(config.databaseUrl, 1);
    const checks = await engineChecks(database, placeOf(config.databaseUrl));
    const schema = await schemaCheck(database);
    return [
      ...checks,
      schema,
      ...(schema.level === "fail" ? [] : [await storedKeysCheck(database, masterKey)]),
    ];
  } catch (error) {
    return [
      fail(
        DATABASE,
        `${placeOf(config.databaseUrl)}: ${reasonOf(error)}`,
        "Check DATABASE_URL, and that the database runs and lets this user in.",
      ),
    ];
  } finally {
    await database?.close();
  }
}

/** SQLite makes the file that it does not find, and doctor must not. */
async function missingFile(url: string): Promise<string | undefined> {
  if (!url.startsWith("sqlite:")) return undefined;
  const path = url.slice("sqlite:".length);
  return (await stat(path).catch(() => undefined))?.isFile() ? undefined : path;
}

/** Without user and password. */
function placeOf(databaseUrl: string): string {
  if (databaseUrl.startsWith("sqlite:")) return databaseUrl.slice("sqlite:".length);
  const { host, pathname } = new URL(databaseUrl);
  return `${host}${pathname}`;
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

async function schemaCheck(database: Database): Promise<Check> {
  const { missing, unknown } = await schemaState(database);
  if (missing.length > 0) return fail("schema", `not applied yet: ${missing.join(", ")}`, "signet migrate");
  if (unknown.length > 0)
    return warn(
      "schema",
      `a newer signet has applied ${unknown.join(", ")}`,
      "Run the same version on every node.",
    );
  return ok("schema", "up to date");
}

async function storedKeysCheck(database: Database, masterKey: Buffer | undefined): Promise<Check> {
  const subject = "signing keys";
  if (!masterKey) return warn(subject, "not tried: there is no master key to open them with", "See above.");
  const encryption = createEncryption(masterKey);
  const tokens = await tryStoredKeys({ database, encryption });
  const devices = await tryStoredCaKeys(database, encryption);
  const opened = tokens.opened + devices.opened;
  const failed = tokens.failed + devices.failed;
  if (failed > 0)
    return fail(
      subject,
      `the master key does not open ${failed} of ${opened + failed} stored keys`,
      "Use the master key that they were stored under: SIGNET_MASTER_KEY, or the key file of that time.",
    );
  return opened === 0
    ? note(subject, "none yet: they are made when first needed")
    : ok(subject, `the master key opens all ${opened}`);
}
