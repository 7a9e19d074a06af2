/** `signet doctor`'s checks of the data folder and the master key. */
import { access, constants, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Config } from "../../config/config.ts";
import { findMasterKey, MASTER_KEY_FILE } from "../../core/encryption/master-key.ts";
import { reasonOf } from "../reason.ts";
import { type Check, fail, note, ok, warn } from "./check-configuration.ts";

const FOLDER = "data folder";

export async function dataFolderCheck({ dataDir, databaseUrl, masterKey }: Config): Promise<Check> {
  const found = await stat(dataDir).catch(() => undefined);
  // With PostgreSQL and a key from outside, nothing that matters is kept there.
  const isNeeded = databaseUrl.startsWith("sqlite:") || masterKey === undefined;
  if (!found && !isNeeded) return note(FOLDER, `${dataDir} is not there yet: signet start makes it`);
  if (!found)
    return fail(
      FOLDER,
      `${dataDir} is not there`,
      "signet start makes it; or set SIGNET_DATA_DIR to the right one.",
    );
  if (!found.isDirectory())
    return fail(FOLDER, `${dataDir} is not a folder`, "Set SIGNET_DATA_DIR to a folder.");
  const isOurs = await access(dataDir, constants.R_OK | constants.W_OK | constants.X_OK).then(
    () => true,
    () => false,
  );
  if (!isOurs)
    return fail(FOLDER, `${dataDir} cannot be written`, "Give it to the user that runs signet: chown.");
  if ((found.mode & 0o022) !== 0)
    return fail(FOLDER, `others may change files in ${dataDir}`, `chmod 700 ${dataDir}`);
  if ((found.mode & 0o077) !== 0)
    return warn(FOLDER, `others may look into ${dataDir}`, `chmod 700 ${dataDir}`);
  return ok(FOLDER, dataDir);
}

const KEY = "master key";

/** @returns the key too, when there is one that may be used; none is made */
export async function masterKeyCheck(config: Config): Promise<{ check: Check; key?: Buffer }> {
  const path = join(config.dataDir, MASTER_KEY_FILE);
  try {
    const key = await findMasterKey(config.masterKey, config.dataDir);
    if (!key)
      return {
        check: fail(
          KEY,
          `there is no ${path}`,
          "signet start makes one. If there was one before: restore it.",
        ),
      };
    return { check: ok(KEY, config.masterKey ? "from SIGNET_MASTER_KEY" : path), key };
  } catch (error) {
    return {
      check: fail(
        KEY,
        reasonOf(error),
        `The key file must be its owner's alone, and hold what signet wrote.`,
      ),
    };
  }
}
