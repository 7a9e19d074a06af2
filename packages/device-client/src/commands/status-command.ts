/** `signet-device status` */
import { flag } from "@signet/cli-runtime/command";
import { describeError } from "@signet/cli-runtime/redact";
import { exitCodes } from "../exit-codes.ts";
import { describeRevocation, queryStatus, recordRevocation } from "../renewal/certificate-status.ts";
import { isTransient } from "../renewal/renewal-daemon.ts";
import { daysLeft, type EnrolledDevice, readEnrolledDevice, validityOf } from "../state/enrolled-device.ts";
import {
  commonOptions,
  type DeviceCommand,
  type DeviceIo,
  hookOption,
  openService,
  readSettings,
  type Settings,
} from "./settings.ts";

export const statusCommand: DeviceCommand = {
  name: "status",
  summary: "show the device and its certificate, and ask the service whether it is still valid",
  usage: "[--offline] [--json]",
  options: {
    offline: flag("do not ask the service"),
    json: flag("print JSON"),
    ...hookOption,
    ...commonOptions,
  },
  run: async ({ values, io }) => {
    const settings = await readSettings(values, io);
    const device = await readEnrolledDevice(settings.state);
    const { text, exitCode } = await determineStatus(device, settings, values["offline"] === true, io);
    const fields = describeDevice(device, text, io.clock());
    if (values["json"] === true) io.print(JSON.stringify(fields));
    else for (const [name, value] of Object.entries(fields)) io.print(`${name.padEnd(14)}${value}`);
    return exitCode;
  },
};

async function determineStatus(
  device: EnrolledDevice,
  settings: Settings,
  isOffline: boolean,
  io: DeviceIo,
): Promise<{ text: string; exitCode: number }> {
  const { revokedAt } = device.record;
  if (revokedAt !== undefined) return { text: `revoked at ${revokedAt}`, exitCode: exitCodes.revoked };
  const isExpired = validityOf(device.certificate).notAfter <= io.clock();
  const own = isExpired
    ? { text: "expired", exitCode: exitCodes.expired }
    : { text: "not asked", exitCode: exitCodes.done };
  if (isOffline) return own;
  try {
    const service = await openService(device.record, settings, io);
    const status = await queryStatus(device, service, io.clock());
    if (status.kind === "unknown") return { text: "unknown to the service", exitCode: exitCodes.failed };
    if (status.kind === "good") return isExpired ? own : { ...own, text: "good" };
    const report = (line: string) => io.printError(line);
    await recordRevocation(device, { revokedAt: status.at, hook: settings["on-revoked"], report });
    return { text: describeRevocation(status), exitCode: exitCodes.revoked };
  } catch (error) {
    if (isExpired) return own;
    const exitCode = isTransient(error) ? exitCodes.tryLater : exitCodes.failed;
    return { text: `not known: ${describeError(error)}`, exitCode };
  }
}

function describeDevice({ deviceId, record, certificate }: EnrolledDevice, status: string, now: number) {
  const validity = validityOf(certificate);
  return {
    device: deviceId,
    organisation: record.organisation,
    server: record.server,
    key: record.key.kind === "tpm" ? `tpm ${record.key.tpm}` : "file",
    attestation: record.attestation ?? "none",
    notAfter: new Date(validity.notAfter).toISOString(),
    daysLeft: daysLeft(validity, now),
    renewFrom: new Date(validity.renewFrom).toISOString(),
    standing: status,
  };
}
