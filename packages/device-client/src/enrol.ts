/**
 * Enrols this machine: a key, a request, the service's certificate. Each step is on the disk before the next one begins, so
 * that an enrolment that was cut off goes on with the same key, and one that failed leaves nothing in use.
 */
import { rm } from "node:fs/promises";
import path from "node:path";
import { attestedEnrolment } from "./attested-enrolment.ts";
import { Ended, exitCodes } from "./exit-codes.ts";
import { checkIssued, takeAuthorities, writeCertificate } from "./issued.ts";
import type { DeviceKey } from "./keys/device-key.ts";
import { createDeviceKey, openDeviceKey } from "./keys/open-device-key.ts";
import { readRequest, writeRequest } from "./request-file.ts";
import { type DeviceService, type IssuedCertificate, ServiceRefusal } from "./service/device-service.ts";
import { type DeviceRecord, makeStateFolder, readRecord, writeRecord } from "./state/device-record.ts";
import { certificatesIn } from "./state/enrolled-device.ts";
import {
  currentGeneration,
  discardGeneration,
  newGeneration,
  pendingGeneration,
  useGeneration,
} from "./state/generations.ts";
import { withLock } from "./state/lock.ts";
import { createPrivateFile, textOf } from "./state/private-file.ts";

export interface Enrolment {
  readonly state: string;
  /** Without a device's id. */
  readonly record: DeviceRecord;
  /** Asked for when it is needed. */
  readonly code: () => Promise<string>;
  readonly service: DeviceService;
  readonly tell: (line: string) => void;
}

/** @returns the record of the enrolled device. @throws Ended, ServiceRefusal, CallFailed, and what a TPM refuses */
export async function enrol(enrolment: Enrolment): Promise<DeviceRecord> {
  await makeStateFolder(enrolment.state);
  return await withLock(enrolment.state, async () => {
    await refuseEnrolled(enrolment);
    await writeRecord(enrolment.state, enrolment.record);
    const folder = await pendingRequest(enrolment);
    const key = await openDeviceKey(enrolment.record.key, folder);
    const issued = (await issuedBefore(folder)) ?? (await askCertificate(enrolment, folder, key));
    if (issued) return await takeIntoUse(enrolment, folder, issued);
    const fresh = await freshRequest(enrolment);
    const again = await openDeviceKey(enrolment.record.key, fresh);
    return await takeIntoUse(enrolment, fresh, await send(enrolment, fresh, again));
  });
}

async function refuseEnrolled({ state, record }: Enrolment): Promise<void> {
  const known = await readRecord(state);
  if (known?.deviceId !== undefined && (await currentGeneration(state)) !== undefined)
    throw new Ended(
      exitCodes.failed,
      `${state} belongs to device ${known.deviceId} already: enrol in another folder, or move this one away`,
    );
  const folder = await pendingGeneration(state);
  const isSame =
    known?.server === record.server &&
    known.organisation === record.organisation &&
    known.key.kind === record.key.kind &&
    known.key.tpm === record.key.tpm;
  // A key that one organisation has seen would tell another that it is the same device.
  if (folder && !isSame) await discardGeneration(folder);
}

async function pendingRequest(enrolment: Enrolment): Promise<string> {
  const folder = await pendingGeneration(enrolment.state);
  if (!folder) return await freshRequest(enrolment);
  enrolment.tell("Going on with the key of an enrolment that was not finished");
  return folder;
}

const ANSWER = "answer.json";

/** Key and request appear together. */
export const freshRequest = ({ state, record }: Pick<Enrolment, "state" | "record">): Promise<string> =>
  newGeneration(state, async (folder) => {
    await createDeviceKey(record.key, folder);
    await writeRequest(folder, await openDeviceKey(record.key, folder));
  });

/** Of an enrolment whose answer had come when it was cut off. */
async function issuedBefore(folder: string): Promise<IssuedCertificate | undefined> {
  const text = await textOf(path.join(folder, ANSWER));
  return text === undefined ? undefined : (JSON.parse(text) as IssuedCertificate);
}

/** @returns undefined when the service has seen this key before: its answer was lost then, and a new key is needed */
async function askCertificate(
  enrolment: Enrolment,
  folder: string,
  key: DeviceKey,
): Promise<IssuedCertificate | undefined> {
  try {
    return await send(enrolment, folder, key);
  } catch (error) {
    if (!(error instanceof ServiceRefusal) || error.code !== "key_already_enrolled") throw error;
    enrolment.tell(
      "The service had enrolled this key before, and its answer was lost: starting over with a new key",
    );
    await discardGeneration(folder);
    return undefined;
  }
}

async function send(
  { record, state, code, service }: Enrolment,
  folder: string,
  key: DeviceKey,
): Promise<IssuedCertificate> {
  const request = await readRequest(folder);
  const issued =
    record.key.kind === "file"
      ? await service.enroll({ code: await code(), csr: request.pem })
      : await attestedEnrolment({ record, state, folder, code: await code(), request, service });
  checkIssued(issued, key);
  // The code is used up: from here on this answer is all there is.
  await createPrivateFile(path.join(folder, ANSWER), JSON.stringify(issued));
  return issued;
}

async function takeIntoUse(
  { state, record }: Enrolment,
  folder: string,
  issued: IssuedCertificate,
): Promise<DeviceRecord> {
  const certificate = checkIssued(issued, await openDeviceKey(record.key, folder));
  const pinned = await textOf(path.join(state, "ca.pem"));
  if (pinned === undefined) await takeAuthorities(state, issued.ca);
  else if (!certificatesIn(pinned).some(({ publicKey }) => certificate.verify(publicKey)))
    throw new Error(
      `the certificate is of a CA that is not in ${path.join(state, "ca.pem")}: is it another service?`,
    );
  await writeCertificate(folder, certificate);
  const { deviceId, attestation } = issued;
  const enrolled = { ...record, deviceId, attestation };
  await writeRecord(state, enrolled);
  await useGeneration(state, folder);
  await rm(path.join(folder, ANSWER), { force: true });
  return enrolled;
}
