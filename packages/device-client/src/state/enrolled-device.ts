/** A device that has its certificate, read from the state folder. */
import { X509Certificate } from "node:crypto";
import path from "node:path";
import { Ended, exitCodes } from "../exit-codes.ts";
import type { DeviceKey } from "../keys/device-key.ts";
import { openDeviceKey } from "../keys/open-device-key.ts";
import type { DeviceIdentity } from "../service/http-call.ts";
import { type DeviceRecord, readRecord } from "./device-record.ts";
import { currentGeneration } from "./generations.ts";
import { textOf } from "./private-file.ts";

export interface EnrolledDevice {
  readonly state: string;
  readonly record: DeviceRecord;
  readonly deviceId: string;
  /** The generation in use. */
  readonly folder: string;
  readonly certificate: X509Certificate;
  /** The organisation's CAs that are believed, the newest first. */
  readonly authorities: readonly X509Certificate[];
}

/** @throws Ended when the folder holds no enrolled device */
export async function readEnrolledDevice(state: string): Promise<EnrolledDevice> {
  const record = await readRecord(state);
  const folder = await currentGeneration(state);
  if (!record?.deviceId || !folder)
    throw new Ended(
      exitCodes.notEnrolled,
      `no device is enrolled in ${state}: see signet-device enroll --help`,
    );
  const pem = await textOf(path.join(folder, "certificate.pem"));
  if (pem === undefined) throw new Error(`${folder} has lost its certificate.pem`);
  return {
    state,
    record,
    deviceId: record.deviceId,
    folder,
    certificate: new X509Certificate(pem),
    authorities: await readAuthorities(state),
  };
}

export async function readAuthorities(state: string): Promise<X509Certificate[]> {
  return certificatesIn((await textOf(path.join(state, "ca.pem"))) ?? "");
}

/** @throws Error for what is no certificate */
export function certificatesIn(pem: string): X509Certificate[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  return blocks.map((block) => new X509Certificate(block));
}

/** By its key, not by its name. */
export const issuerAmong = ({
  certificate,
  authorities,
}: Pick<EnrolledDevice, "certificate" | "authorities">): X509Certificate | undefined =>
  authorities.find(({ publicKey }) => certificate.verify(publicKey));

/** @throws Error when the key's file is not there, or not private */
export async function identityOf({ record, folder, certificate }: EnrolledDevice): Promise<DeviceIdentity> {
  const key: DeviceKey = await openDeviceKey(record.key, folder);
  return { key, certificate: certificate.toString(), chain: [certificate.raw] };
}

const DAY_MS = 86_400_000;

export interface Validity {
  /** Milliseconds, all of them. */
  readonly notBefore: number;
  readonly notAfter: number;
  /** Two thirds of the way: from then on the service renews it (device-identity.md §1). */
  readonly renewFrom: number;
}

export function validityOf({ validFromDate, validToDate }: X509Certificate): Validity {
  const [notBefore, notAfter] = [validFromDate.getTime(), validToDate.getTime()];
  return { notBefore, notAfter, renewFrom: notBefore + Math.ceil(((notAfter - notBefore) * 2) / 3) };
}

export const daysLeft = ({ notAfter }: Validity, now: number): number =>
  Math.floor((notAfter - now) / DAY_MS);
