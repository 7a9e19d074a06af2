/** An enrolled device, read from its state folder. */
import { X509Certificate } from "node:crypto";
import path from "node:path";
import { ExitError } from "@signet/cli-runtime/command";
import { readIfPresent } from "@signet/cli-runtime/private-file";
import { exitCodes } from "../exit-codes.ts";
import { openDeviceKey } from "../keys/open-device-key.ts";
import type { DeviceIdentity } from "../service/http-client.ts";
import { readRecord } from "./device-record.ts";
import { currentGeneration } from "./generations.ts";

export type EnrolledDevice = Awaited<ReturnType<typeof readEnrolledDevice>>;

/** @throws ExitError when no device is enrolled there */
export async function readEnrolledDevice(state: string) {
  const record = await readRecord(state);
  const folder = await currentGeneration(state);
  if (!record?.deviceId || !folder)
    throw new ExitError(
      exitCodes.notEnrolled,
      `no device is enrolled in ${state}: see signet-device enroll --help`,
    );
  const pem = await readIfPresent(path.join(folder, "certificate.pem"));
  if (pem === undefined) throw new Error(`certificate.pem is missing in ${folder}`);
  return {
    state,
    record,
    deviceId: record.deviceId,
    /** The generation in use. */
    folder,
    certificate: new X509Certificate(pem),
    /** The organisation's trusted CAs, the newest first. */
    authorities: await readAuthorities(state),
  };
}

export async function readAuthorities(state: string): Promise<X509Certificate[]> {
  return parseCertificates((await readIfPresent(path.join(state, "ca.pem"))) ?? "");
}

export function parseCertificates(pem: string): X509Certificate[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  return blocks.map((block) => new X509Certificate(block));
}

/** Found by signature, not by name. */
export const issuerOf = (
  certificate: X509Certificate,
  authorities: readonly X509Certificate[],
): X509Certificate | undefined => authorities.find(({ publicKey }) => certificate.verify(publicKey));

export async function identityOf({ record, folder, certificate }: EnrolledDevice): Promise<DeviceIdentity> {
  const key = await openDeviceKey(record.key, folder);
  return { key, certificate: certificate.toString(), chain: [certificate.raw] };
}

const DAY_MS = 86_400_000;

/** Milliseconds. The service renews after two thirds of the lifetime (device-identity.md §1). */
export function validityOf({ validFromDate, validToDate }: X509Certificate) {
  const [notBefore, notAfter] = [validFromDate.getTime(), validToDate.getTime()];
  return { notBefore, notAfter, renewFrom: notBefore + Math.ceil(((notAfter - notBefore) * 2) / 3) };
}

export const daysLeft = ({ notAfter }: { notAfter: number }, now: number): number =>
  Math.floor((notAfter - now) / DAY_MS);
