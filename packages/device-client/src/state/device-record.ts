/** `device.json` of the state folder: which device this is, whose, and how its key is kept. */
import { chmod, mkdir, stat } from "node:fs/promises";
import path from "node:path";
import { isUuid } from "@signet/protocol/hash";
import { type EkKind, ekKinds } from "../tpm/templates.ts";
import { PRIVATE, replaceFile, textOf, UnsafeFile } from "./private-file.ts";

export interface KeyKeeping {
  readonly kind: "file" | "tpm";
  /** As `--tpm` takes it. */
  readonly tpm?: string;
  readonly ek?: EkKind;
}

export interface DeviceRecord {
  /** Without a slash at its end. */
  readonly server: string;
  readonly organisation: string;
  readonly key: KeyKeeping;
  /** A file in PEM that is believed in place of the system's roots. */
  readonly serverCa?: string;
  /** Once the service has enrolled it. */
  readonly deviceId?: string;
  readonly attestation?: string;
  /** When the service was first heard to say so, in ISO 8601. */
  readonly revokedAt?: string;
  /** The program that is to hear of it has ended well. */
  readonly isRevocationTold?: boolean;
}

const FILE = "device.json";

/** Makes the state folder: its owner's alone. @throws UnsafeFile when others can write there */
export async function makeStateFolder(state: string): Promise<void> {
  if ((await mkdir(state, { recursive: true, mode: 0o700 })) !== undefined) await chmod(state, 0o700);
  const { mode } = await stat(state);
  if ((mode & 0o022) !== 0) throw new UnsafeFile(`others can write in ${state}: chmod 700 ${state}`);
}

/** @returns undefined when nothing was ever enrolled there. @throws Error for what we have not written */
export async function readRecord(state: string): Promise<DeviceRecord | undefined> {
  const text = await textOf(path.join(state, FILE));
  if (text === undefined) return undefined;
  try {
    return asRecord(JSON.parse(text) as unknown);
  } catch (cause) {
    throw new Error(`${path.join(state, FILE)} is damaged: enrol this device anew in an empty folder`, {
      cause,
    });
  }
}

export async function writeRecord(state: string, record: DeviceRecord): Promise<void> {
  await replaceFile(path.join(state, FILE), `${JSON.stringify(record, null, 2)}\n`, PRIVATE);
}

function asRecord(value: unknown): DeviceRecord {
  const { server, organisation, key, ...rest } = value as Record<string, unknown>;
  const { kind, ...place } = key as Record<string, unknown>;
  const isRecord =
    typeof server === "string" &&
    typeof organisation === "string" &&
    isUuid(organisation) &&
    (kind === "file" || kind === "tpm") &&
    Object.values(place).every((one) => typeof one === "string") &&
    (place["ek"] === undefined || ekKinds.some((one) => one === place["ek"])) &&
    Object.entries(rest).every(
      ([name, one]) => typeof one === (name === "isRevocationTold" ? "boolean" : "string"),
    );
  if (!isRecord) throw new TypeError("its members are not those of a device");
  return value as DeviceRecord;
}
