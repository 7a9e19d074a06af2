/** `signet doctor`: checks the data folder and the master key. */
import { access, constants, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Config } from "../../config/config.ts";
import { MASTER_KEY_FILE } from "../../core/encryption/folder-keys.ts";
import type { KeyRing } from "../../core/encryption/key-ring.ts";
import { findMasterKeys } from "../../core/encryption/master-key.ts";
import { errorMessage } from "../output.ts";
import { type Check, fail, note, ok, warn } from "./check-configuration.ts";

const FOLDER = "data folder";

export async function dataFolderCheck({ dataDir, databaseUrl, masterKey }: Config): Promise<Check> {
  const found = await stat(dataDir).catch(() => undefined);
  // PostgreSQL with SIGNET_MASTER_KEY stores nothing in the data folder.
  const isNeeded = databaseUrl.startsWith("sqlite:") || masterKey === undefined;
  if (!found && !isNeeded) return note(FOLDER, `${dataDir} doesn't exist yet: signet start creates it`);
  if (!found)
    return fail(
      FOLDER,
      `${dataDir} doesn't exist`,
      "Run signet start to create it, or set SIGNET_DATA_DIR to the right folder.",
    );
  if (!found.isDirectory())
    return fail(FOLDER, `${dataDir} is not a folder`, "Set SIGNET_DATA_DIR to a folder.");
  const isOurs = await access(dataDir, constants.R_OK | constants.W_OK | constants.X_OK).then(
    () => true,
    () => false,
  );
  if (!isOurs)
    return fail(FOLDER, `${dataDir} is not writable`, "Make the user that runs signet its owner (chown).");
  if ((found.mode & 0o022) !== 0)
    return fail(FOLDER, `other users can change files in ${dataDir}`, `Run chmod 700 ${dataDir}.`);
  if ((found.mode & 0o077) !== 0)
    return warn(FOLDER, `other users can list ${dataDir}`, `Run chmod 700 ${dataDir}.`);
  return ok(FOLDER, dataDir);
}

const KEY = "master key";

/** @returns the keys as well when usable; never creates one */
export async function masterKeyCheck(config: Config): Promise<{ check: Check; keys?: KeyRing }> {
  const path = join(config.dataDir, MASTER_KEY_FILE);
  try {
    const keys = await findMasterKeys(config);
    if (!keys)
      return {
        check: fail(
          KEY,
          `${path} doesn't exist`,
          "Run signet start to create one. If it was lost, restore it from a backup.",
        ),
      };
    return { check: ok(KEY, config.masterKey ? "from SIGNET_MASTER_KEY" : path), keys };
  } catch (error) {
    return {
      check: fail(
        KEY,
        errorMessage(error),
        "The key file must be readable by its owner only, and have the content that signet wrote.",
      ),
    };
  }
}
