/** `signet-device enroll` */
import { access, constants } from "node:fs/promises";
import { optionalText, textOption, UsageError, type Values } from "@signet/cli-runtime/command";
import { readSecretFile } from "@signet/cli-runtime/private-file";
import { rememberSecret } from "@signet/cli-runtime/redact";
import { enrol } from "../enrolment/enrol.ts";
import { exitCodes } from "../exit-codes.ts";
import type { KeyStorage } from "../state/device-record.ts";
import { readEnrolledDevice, validityOf } from "../state/enrolled-device.ts";
import { ekTypes } from "../tpm/templates.ts";
import { DEFAULT_TPM, parseTpmLocation } from "../tpm/transport.ts";
import {
  addressOptions,
  commonOptions,
  type DeviceCommand,
  type DeviceIo,
  openService,
  readSettings,
  requireAddress,
  type Settings,
} from "./settings.ts";

export const enrollCommand: DeviceCommand = {
  name: "enroll",
  summary: "create a key and get a certificate for it",
  usage: "--server URL --org ID [--code-file FILE | --code -] [--key file|tpm]",
  options: {
    ...addressOptions,
    "code-file": textOption("FILE", "file of mode 0600 with the enrolment code"),
    code: textOption("CODE", "- for standard input; other users of this machine can see a code given here"),
    key: textOption("TYPE", "file (default) or tpm"),
    tpm: textOption("TPM", `${DEFAULT_TPM} (default), tcp:HOST:PORT or unix:PATH`),
    ek: textOption("TYPE", `endorsement key: ${ekTypes.join(", ")} (default: the first with a certificate)`),
    ...commonOptions,
  },
  run: async ({ values, io }) => {
    const settings = await readSettings(values, io);
    const { state, "server-ca": serverCa } = settings;
    const address = requireAddress(settings);
    const record = { ...address, key: readKeyStorage(settings), ...(serverCa && { serverCa }) };
    const service = await openService(record, settings, io);
    // Now rather than at the first renewal in a month.
    if (serverCa !== undefined) await access(serverCa, constants.R_OK);
    const report = (line: string) => io.printError(line);
    const enrolled = await enrol({ state, record, code: () => readCode(values, io), service, report });
    const { certificate } = await readEnrolledDevice(state);
    const until = new Date(validityOf(certificate).notAfter).toISOString();
    io.print(`Enrolled device ${enrolled.deviceId} (attestation: ${enrolled.attestation}) until ${until}`);
    io.print(`Key and certificate are in ${state}/current. Keep them renewed: signet-device renew --daemon`);
    return exitCodes.done;
  },
};

function readKeyStorage({ key = "file", tpm, ek }: Settings): KeyStorage {
  if (key !== "file" && key !== "tpm") throw new UsageError("--key must be file or tpm");
  if (key === "file") {
    if (tpm !== undefined || ek !== undefined) throw new UsageError("--tpm and --ek need --key tpm");
    return { kind: "file" };
  }
  const location = tpm ?? DEFAULT_TPM;
  if (!parseTpmLocation(location))
    throw new UsageError("--tpm must be the path of a device, tcp:HOST:PORT or unix:PATH");
  const type = ekTypes.find((one) => one === ek);
  if (ek !== undefined && !type) throw new UsageError(`--ek must be one of ${ekTypes.join(", ")}`);
  return { kind: "tpm", tpm: location, ...(type && { ek: type }) };
}

/** Every user of the machine can read arguments: hence the three other ways. */
async function readCode(values: Values, io: DeviceIo): Promise<string> {
  const file = optionalText(values, "code-file");
  const given = optionalText(values, "code");
  if (file !== undefined && given !== undefined) throw new UsageError("use either --code or --code-file");
  if (file !== undefined) return await readSecretFile(file);
  const code =
    given === "-" ? (await io.readLine()).trim() : (given ?? io.environment["SIGNET_ENROLLMENT_CODE"]);
  if (!code)
    throw new UsageError("the enrolment code is missing: --code-file, --code - or SIGNET_ENROLLMENT_CODE");
  return rememberSecret(code);
}
