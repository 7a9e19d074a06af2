/** `signet-device enroll` */
import { access, constants } from "node:fs/promises";
import { isUuid } from "@signet/protocol/hash";
import { isServiceAddress } from "@signet/protocol/service-address";
import { enrol } from "../enrol.ts";
import { exitCodes } from "../exit-codes.ts";
import type { DeviceRecord, KeyKeeping } from "../state/device-record.ts";
import { readEnrolledDevice, validityOf } from "../state/enrolled-device.ts";
import { readSecretFile } from "../state/private-file.ts";
import { type EkKind, ekKinds } from "../tpm/templates.ts";
import { DEFAULT_TPM, readTpmPlace } from "../tpm/tpm-place.ts";
import { type Call, type Command, type Io, optionalText, UsageError, type Values } from "./command.ts";
import { openServiceOf } from "./open-service.ts";
import { commonOptions, readSettings, type Settings, trustOption } from "./settings.ts";

export const placeOptions = {
  server: { type: "string", value: "URL", help: "the service's address" },
  org: { type: "string", value: "ID", help: "the organisation" },
} as const;

export const enrollCommand: Command = {
  name: "enroll",
  summary: "make a key, prove it, get a certificate for it",
  usage: "--server URL --org ID [--code-file FILE | --code -] [--key file|tpm]",
  options: {
    ...placeOptions,
    "code-file": { type: "string", value: "FILE", help: "a file of mode 0600 with the enrollment code" },
    code: {
      type: "string",
      value: "CODE",
      help: "the code itself, which other users of this machine can see; - reads it from standard input",
    },
    key: { type: "string", value: "KIND", help: "file (when left out) or tpm" },
    tpm: {
      type: "string",
      value: "PLACE",
      help: `${DEFAULT_TPM} (when left out), tcp:HOST:PORT or unix:PATH`,
    },
    ek: {
      type: "string",
      value: "KIND",
      help: `endorsement key: ${ekKinds.join(", ")}; the first that is certified`,
    },
    ...trustOption,
    ...commonOptions,
  },
  run: async ({ values, io }: Call) => {
    const settings = await readSettings(values, io);
    const record = recordOf(settings);
    const service = await openServiceOf(record, settings, io);
    const serverCa = settings["server-ca"];
    // Now, not in a month when the first renewal needs it.
    if (serverCa !== undefined) await access(serverCa, constants.R_OK);
    const { state } = settings;
    const tell = (line: string) => io.printError(line);
    const enrolled = await enrol({ state, record, code: () => readCode(values, io), service, tell });
    const { certificate } = await readEnrolledDevice(state);
    const until = new Date(validityOf(certificate).notAfter).toISOString();
    io.print(
      `Device ${enrolled.deviceId} is enrolled (attestation: ${enrolled.attestation}), until ${until}`,
    );
    io.print(`Key and certificate are in ${state}/current; keep them with: signet-device renew --daemon`);
    return exitCodes.done;
  },
};

function recordOf(settings: Settings): DeviceRecord {
  const serverCa = settings["server-ca"];
  return { ...placeOf(settings), key: keepingOf(settings), ...(serverCa === undefined ? {} : { serverCa }) };
}

/** @throws UsageError */
export function placeOf({ server, org }: Settings): { server: string; organisation: string } {
  if (server === undefined || org === undefined) throw new UsageError("--server and --org are needed");
  if (!isServiceAddress(server))
    throw new UsageError("--server must be an https address, or http on this machine");
  if (!isUuid(org)) throw new UsageError("--org must be a UUID");
  return { server: server.replace(/\/+$/, ""), organisation: org.toLowerCase() };
}

function keepingOf({ key = "file", tpm, ek }: Settings): KeyKeeping {
  if (key !== "file" && key !== "tpm") throw new UsageError("--key must be file or tpm");
  if (key === "file") {
    if (tpm !== undefined || ek !== undefined) throw new UsageError("--tpm and --ek go with --key tpm");
    return { kind: "file" };
  }
  const place = tpm ?? DEFAULT_TPM;
  if (!readTpmPlace(place)) throw new UsageError("--tpm must be a device's path, tcp:HOST:PORT or unix:PATH");
  return { kind: "tpm", tpm: place, ...(ek === undefined ? {} : { ek: ekKindOf(ek) }) };
}

function ekKindOf(text: string): EkKind {
  const kind = ekKinds.find((one) => one === text);
  if (!kind) throw new UsageError(`--ek must be one of ${ekKinds.join(", ")}`);
  return kind;
}

/** Arguments can be read by every user of the machine, so that there are three other ways. */
async function readCode(values: Values, io: Io): Promise<string> {
  const file = optionalText(values, "code-file");
  const typed = optionalText(values, "code");
  if (file !== undefined && typed !== undefined) throw new UsageError("--code or --code-file, not both");
  if (file !== undefined) return await readSecretFile(file);
  const code =
    typed === "-" ? (await io.readLine()).trim() : (typed ?? io.environment["SIGNET_ENROLLMENT_CODE"]);
  if (code === undefined || code === "")
    throw new UsageError("the enrollment code is missing: --code-file, --code - or SIGNET_ENROLLMENT_CODE");
  return code;
}
