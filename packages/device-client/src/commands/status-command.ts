/** `signet-device status` */
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { isPassingTrouble } from "../keep-renewed.ts";
import { reasonOf } from "../log.ts";
import { askStanding, noteRevoked, revocationText } from "../standing.ts";
import { daysLeft, type EnrolledDevice, readEnrolledDevice, validityOf } from "../state/enrolled-device.ts";
import type { Call, Command, Io } from "./command.ts";
import { openServiceOf } from "./open-service.ts";
import { commonOptions, hookOption, readSettings, type Settings, trustOption } from "./settings.ts";

export const statusCommand: Command = {
  name: "status",
  summary: "show the device and its certificate, and ask the service whether it still counts",
  usage: "[--offline] [--json]",
  options: {
    offline: { type: "boolean", help: "ask nobody" },
    json: { type: "boolean", help: "print JSON" },
    ...trustOption,
    ...hookOption,
    ...commonOptions,
  },
  run: async ({ values, io }: Call) => {
    const settings = await readSettings(values, io);
    const device = await readEnrolledDevice(settings.state);
    const standing = await standingOf(device, settings, values["offline"] === true, io);
    const facts = factsOf(device, standing, io.clock());
    if (values["json"] === true) io.print(JSON.stringify(facts));
    else for (const [name, value] of Object.entries(facts)) io.print(`${name.padEnd(14)}${value}`);
    return standing.exitCode;
  },
};

interface Standing {
  readonly text: string;
  readonly exitCode: ExitCode;
}

async function standingOf(
  device: EnrolledDevice,
  settings: Settings,
  isOffline: boolean,
  io: Io,
): Promise<Standing> {
  const { revokedAt } = device.record;
  if (revokedAt !== undefined) return { text: `revoked at ${revokedAt}`, exitCode: exitCodes.revoked };
  const isExpired = validityOf(device.certificate).notAfter <= io.clock();
  const own: Standing = isExpired
    ? { text: "expired", exitCode: exitCodes.expired }
    : { text: "not asked", exitCode: exitCodes.done };
  if (isOffline) return own;
  try {
    const service = await openServiceOf(device.record, settings, io);
    const told = await askStanding(device, service, io.clock());
    if (told.kind === "unknown") return { text: "the service does not know it", exitCode: exitCodes.failed };
    if (told.kind === "good") return isExpired ? own : { ...own, text: "good" };
    const tell = (line: string) => io.printError(line);
    await noteRevoked(device, { revokedAt: told.at, hook: settings["on-revoked"], tell });
    return { text: revocationText(told), exitCode: exitCodes.revoked };
  } catch (error) {
    const exitCode = isPassingTrouble(error) ? exitCodes.tryLater : exitCodes.failed;
    return isExpired ? own : { text: `not known: ${reasonOf(error)}`, exitCode };
  }
}

function factsOf({ deviceId, record, certificate }: EnrolledDevice, { text }: Standing, now: number) {
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
    standing: text,
  };
}
