/** The state folder, and its `device.json`: which device this is, of which organisation, and how its key is stored. */
import { chmod, mkdir } from "node:fs/promises";
import path from "node:path";
import { withLock } from "@signet/cli-runtime/exclusive-lock";
import {
  PRIVATE,
  readPrivateFile,
  replaceFile,
  requirePrivateFolder,
  undefinedIfMissing,
} from "@signet/cli-runtime/private-file";
import { isUuid } from "@signet/protocol/hash";
import { type EkType, ekTypes } from "../tpm/templates.ts";

export interface KeyStorage {
  readonly kind: "file" | "tpm";
  /** As in `--tpm`. */
  readonly tpm?: string;
  readonly ek?: EkType;
}

export interface DeviceRecord {
  /** Without a trailing slash. */
  readonly server: string;
  readonly organisation: string;
  readonly key: KeyStorage;
  /** PEM file to trust instead of the system's roots. */
  readonly serverCa?: string;
  /** Set once enrolled. */
  readonly deviceId?: string;
  readonly attestation?: string;
  /** ISO 8601. */
  readonly revokedAt?: string;
  /** The hook has run successfully. */
  readonly isRevocationTold?: boolean;
}

const FILE = "device.json";

/** Mode 0700. @throws UnsafeFile when it belongs to another user, or others can write there */
export async function makeStateFolder(state: string): Promise<void> {
  if ((await mkdir(state, { recursive: true, mode: 0o700 })) !== undefined) await chmod(state, 0o700);
  await requirePrivateFolder(state);
}

/** One process at a time: of two concurrent renewals, each would discard the other's certificate. @throws Locked */
export const lockState = <Result>(state: string, work: () => Promise<Result>): Promise<Result> =>
  withLock(path.join(state, "lock.db"), work);

/**
 * Who may write there decides which service the device shows its key to.
 * @returns undefined when nothing was ever enrolled there
 * @throws UnsafeFile when the file or the folder belongs to another user, or others can write there; Error for an invalid file
 */
export async function readRecord(state: string): Promise<DeviceRecord | undefined> {
  const text = await readPrivateFile(path.join(state, FILE)).catch(undefinedIfMissing);
  if (text === undefined) return undefined;
  try {
    return parseRecord(JSON.parse(text) as unknown);
  } catch (cause) {
    throw new Error(`${path.join(state, FILE)} is damaged: enrol this device again in an empty folder`, {
      cause,
    });
  }
}

export async function writeRecord(state: string, record: DeviceRecord): Promise<void> {
  await replaceFile(path.join(state, FILE), `${JSON.stringify(record, null, 2)}\n`, PRIVATE);
}

function parseRecord(value: unknown): DeviceRecord {
  const { server, organisation, key, ...rest } = value as Record<string, unknown>;
  const { kind, ...place } = key as Record<string, unknown>;
  const isRecord =
    typeof server === "string" &&
    typeof organisation === "string" &&
    isUuid(organisation) &&
    (kind === "file" || kind === "tpm") &&
    Object.values(place).every((one) => typeof one === "string") &&
    (place["ek"] === undefined || ekTypes.some((one) => one === place["ek"])) &&
    Object.entries(rest).every(
      ([name, one]) => typeof one === (name === "isRevocationTold" ? "boolean" : "string"),
    );
  if (!isRecord) throw new TypeError("not a device record");
  return value as DeviceRecord;
}
