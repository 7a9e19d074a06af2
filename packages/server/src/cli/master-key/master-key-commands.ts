/** `signet master-key rotate`: everything sealed anew under the master key in use, while the service runs. */
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import {
  LOOK_AGAIN_MS,
  MASTER_KEY_FILE,
  PREVIOUS_KEYS_FILE,
  replaceFolderKey,
  wrapFolderKeys,
} from "../../core/encryption/folder-keys.ts";
import { MASTER_KEY_BYTES } from "../../core/encryption/key-ring.ts";
import { wrappingOf } from "../../core/encryption/master-key.ts";
import { countStale, renewAllSealed, type WholeRenewal } from "../../core/encryption/renew-sealed.ts";
import { storedKeyText } from "../../core/encryption/stored-key.ts";
import type { Service } from "../../modules/open-service.ts";
import { sealedColumns } from "../../modules/sealed-columns.ts";
import { type Call, type Command, jsonOption, UsageError } from "../command.ts";
import { escapeControls, printResult } from "../output.ts";
import { OPERATOR } from "../with-service.ts";

export const masterKeyCommands: readonly Command[] = [
  {
    name: "master-key rotate",
    summary: "seal everything under a new master key, while the service runs; may be repeated",
    usage: "[--only-server] [--json]",
    options: {
      "only-server": {
        help: "with PostgreSQL and a key file: no other server uses this database, so that the file may be replaced",
      },
      ...jsonOption,
    },
    examples: [
      "signet master-key rotate",
      "SIGNET_MASTER_KEY=$NEW SIGNET_MASTER_KEY_PREVIOUS=$OLD signet master-key rotate",
    ],
    runWithService: rotate,
  },
  {
    name: "master-key wrap",
    summary: "keep the master keys wrapped by the HSM's key of SIGNET_MASTER_KEY_PKCS11",
    usage: "[--new] [--json]",
    options: {
      new: { help: "make a new key, wrapped from the beginning, and print it; nothing else changes" },
      ...jsonOption,
    },
    examples: ["signet master-key wrap", "signet master-key wrap --new"],
    mayBegin: true,
    run: wrap,
  },
];

/** In the data folder, or printed where they come from the environment, which Signet does not write. */
async function wrap(call: Call): Promise<number> {
  const { config, values } = call;
  if (!config.masterKeyWrapping) throw new UsageError("SIGNET_MASTER_KEY_PKCS11 is not set: there is no HSM");
  const wrapping = await wrappingOf(config);
  const print = (keys: readonly Buffer[], lines: (kept: readonly string[]) => string[]) => {
    const kept = keys.map((key) => storedKeyText(wrapping.wrap(key)));
    return printResult(call, { keys: kept }, () => lines(kept));
  };
  if (values.new === true) return print([randomBytes(MASTER_KEY_BYTES)], (kept) => [...kept]);
  if (config.masterKey) {
    const keys = [config.masterKey, ...config.previousMasterKeys].map(wrapping.unwrap);
    // One line for all previous keys: of two with the same name only one would count.
    return print(keys, ([first, ...previous]) => [
      `SIGNET_MASTER_KEY=${first}`,
      ...(previous.length > 0 ? [`SIGNET_MASTER_KEY_PREVIOUS=${previous.join(",")}`] : []),
    ]);
  }
  await wrapFolderKeys(config.dataDir, wrapping);
  const path = join(config.dataDir, MASTER_KEY_FILE);
  return printResult(call, { file: path }, () => [
    `The keys in ${config.dataDir} are wrapped now. Copies of ${path} in clear are elsewhere only: keep or destroy them.`,
  ]);
}

async function rotate(service: Service, call: Call): Promise<number> {
  const isNewKey = await replaceKey(service, call);
  const counts = await renewAllSealed(service, sealedColumns(service), OPERATOR);
  printResult(call, { ...counts, newKey: isNewKey }, () => describe(counts, call, isNewKey));
  return counts.unreadable > 0 || counts.left > 0 ? 1 : 0;
}

/**
 * Where the key is a file, a new one takes its place, unless the last rotation is unfinished: then that one goes on.
 * @returns whether there is a new key @throws where other servers would be left without it
 */
async function replaceKey(service: Service, { values }: Call): Promise<boolean> {
  const { config, database } = service;
  if (config.masterKey) return false;
  const before = await countStale(database, sealedColumns(service));
  if (before.renewed > 0) return false;
  if (before.unreadable > 0)
    throw new Error(
      `no known master key opens ${before.unreadable} of ${before.sealed} values (${before.named[0]}, …): put the missing key into ${join(config.dataDir, PREVIOUS_KEYS_FILE)} or SIGNET_MASTER_KEY_PREVIOUS first`,
    );
  if (database.kind === "postgres" && values["only-server"] !== true)
    throw new Error(
      "other servers may use this database, and would be left without the new key: set SIGNET_MASTER_KEY and SIGNET_MASTER_KEY_PREVIOUS on all of them, or add --only-server where there is none",
    );
  await replaceFolderKey(config.dataDir, await wrappingOf(config));
  // A server that runs has looked at the files by then.
  await setTimeout(2 * LOOK_AGAIN_MS);
  service.masterKeys.refresh();
  return true;
}

function describe(
  { sealed, renewed, unreadable, named, left }: WholeRenewal,
  { config }: Call,
  isNewKey: boolean,
): string[] {
  const missing = named.map((name) => `  ${escapeControls(name)}`);
  return [
    ...(isNewKey ? [`A new master key is in ${config.dataDir}.`] : []),
    left > 0
      ? `${renewed} values were sealed anew, but a server still seals under an older key: ${left} are under it now. Let every server have the new key first, then run this again, and keep the old key until then.`
      : `${renewed} of ${sealed} values were sealed anew; all that can be read are under the master key in use.`,
    ...(unreadable > 0 ? [`No known master key opens ${unreadable}:`, ...missing] : []),
    previousAdvice(config),
  ];
}

const previousAdvice = ({ masterKey, previousMasterKeys, dataDir }: Call["config"]): string =>
  masterKey && previousMasterKeys.length === 0 ? howToRotate : keepPrevious(masterKey, dataDir);

const howToRotate =
  "To replace the key: let SIGNET_MASTER_KEY be a new one and SIGNET_MASTER_KEY_PREVIOUS this one, on all servers (docs/operations.md).";

const keepPrevious = (masterKey: Buffer | undefined, dataDir: string): string =>
  `Refresh tokens of before need the previous key until they end: keep it in ${masterKey ? "SIGNET_MASTER_KEY_PREVIOUS" : join(dataDir, PREVIOUS_KEYS_FILE)} that long, then remove it.`;
