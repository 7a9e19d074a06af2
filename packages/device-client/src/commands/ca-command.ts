/** `signet-device ca`: shows the organisation's device CAs, or trusts them from now on. */
import type { X509Certificate } from "node:crypto";
import { ExitError, flag, optionalText, textOption, UsageError } from "@signet/cli-runtime/command";
import { trustAuthorities } from "../enrolment/issued-certificate.ts";
import { exitCodes } from "../exit-codes.ts";
import { lockState, makeStateFolder, readRecord } from "../state/device-record.ts";
import { parseCertificates, readAuthorities } from "../state/enrolled-device.ts";
import {
  addressOptions,
  commonOptions,
  type DeviceCommand,
  openService,
  readSettings,
  requireAddress,
} from "./settings.ts";

export const caCommand: DeviceCommand = {
  name: "ca",
  summary: "show the certificates of the organisation's device CA, or trust them from now on",
  usage: "[--server URL --org ID] [--sha256 HEX] [--pin]",
  options: {
    ...addressOptions,
    sha256: textOption("HEX", "only the certificate with this fingerprint"),
    pin: flag("keep them in the state folder, and refuse certificates of any other CA"),
    ...commonOptions,
  },
  run: async ({ values, io }) => {
    const settings = await readSettings(values, io);
    const { state } = settings;
    const record = settings.server === undefined ? await readRecord(state) : undefined;
    const service = await openService(record ?? requireAddress(settings), settings, io);
    const received = parseCertificates(await service.caPem());
    const fingerprint = readFingerprint(optionalText(values, "sha256"));
    const prints = received.map(fingerprintOf);
    if (fingerprint !== undefined && !prints.includes(fingerprint))
      throw new ExitError(exitCodes.failed, `the service's CA is a different one: ${prints.join(", ")}`);
    // The fingerprint vouches for one certificate: whoever knows it could add others beside it.
    const selected = received.filter(
      (one) => fingerprint === undefined || fingerprintOf(one) === fingerprint,
    );
    for (const one of selected) io.printError(`SHA-256 ${fingerprintOf(one)}`);
    if (values["pin"] === true) {
      await pin(state, received, selected);
      io.printError(`saved to ${state}/ca.pem`);
    } else io.print(toPem(selected).trimEnd());
    return exitCodes.done;
  },
};

/** A CA that is trusted already shows that the new one belongs to the same service: it is kept beside it. */
async function pin(state: string, received: X509Certificate[], selected: X509Certificate[]): Promise<void> {
  await makeStateFolder(state);
  await lockState(state, async () => {
    const trusted = (await readAuthorities(state)).map(fingerprintOf);
    const accepted = received.filter((one) => selected.includes(one) || trusted.includes(fingerprintOf(one)));
    await trustAuthorities(state, toPem(accepted));
  });
}

function readFingerprint(text: string | undefined): string | undefined {
  const digits = text === undefined ? undefined : normalise(text);
  if (digits !== undefined && !/^[0-9a-f]{64}$/.test(digits))
    throw new UsageError("--sha256 must be 64 hexadecimal digits");
  return digits;
}

const normalise = (fingerprint: string): string => fingerprint.replaceAll(":", "").toLowerCase();
const fingerprintOf = ({ fingerprint256 }: X509Certificate): string => normalise(fingerprint256);
const toPem = (certificates: readonly X509Certificate[]): string => certificates.map(String).join("");
