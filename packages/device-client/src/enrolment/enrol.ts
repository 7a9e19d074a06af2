/**
 * Enrols this machine: key, request, certificate. Each is on disk before the next step, so that an interrupted enrolment
 * continues with the same key, and a failed one leaves nothing in use.
 */
import { rm } from "node:fs/promises";
import path from "node:path";
import { ExitError } from "@signet/cli-runtime/command";
import { createPrivateFile, readIfPresent } from "@signet/cli-runtime/private-file";
import { exitCodes } from "../exit-codes.ts";
import { createDeviceKey, type DeviceKey, openDeviceKey } from "../keys/open-device-key.ts";
import { type DeviceService, type IssuedCertificate, ServiceRefusal } from "../service/device-service.ts";
import {
  type DeviceRecord,
  lockState,
  makeStateFolder,
  readRecord,
  writeRecord,
} from "../state/device-record.ts";
import { parseCertificates } from "../state/enrolled-device.ts";
import {
  currentGeneration,
  discardGeneration,
  newGeneration,
  pendingGeneration,
  useGeneration,
} from "../state/generations.ts";
import { attestedEnrolment } from "./attested-enrolment.ts";
import {
  readRequest,
  trustAuthorities,
  verifyIssued,
  writeCertificate,
  writeRequest,
} from "./issued-certificate.ts";

export interface Enrolment {
  readonly state: string;
  readonly record: DeviceRecord;
  /** Called only when a code is needed. */
  readonly code: () => Promise<string>;
  readonly service: DeviceService;
  readonly report: (line: string) => void;
}

/** @returns the enrolled device's record. @throws ExitError, ServiceRefusal, CallFailed, TpmRefusal */
export async function enrol(enrolment: Enrolment): Promise<DeviceRecord> {
  const { state, record } = enrolment;
  await makeStateFolder(state);
  return await lockState(state, async () => {
    await requireNotEnrolled(enrolment);
    await writeRecord(state, record);
    const folder = await pendingRequest(enrolment);
    const issued = (await readAnswer(folder)) ?? (await requestCertificate(enrolment, folder));
    if (issued) return await install(enrolment, folder, issued);
    const fresh = await createRequest(enrolment);
    return await install(enrolment, fresh, await send(enrolment, fresh));
  });
}

async function requireNotEnrolled({ state, record }: Enrolment): Promise<void> {
  const earlier = await readRecord(state);
  if (earlier?.deviceId !== undefined && (await currentGeneration(state)) !== undefined)
    throw new ExitError(
      exitCodes.failed,
      `${state} already belongs to device ${earlier.deviceId}: enrol in another folder, or move this one away`,
    );
  const folder = await pendingGeneration(state);
  const isSame =
    earlier?.server === record.server &&
    earlier.organisation === record.organisation &&
    earlier.key.kind === record.key.kind &&
    earlier.key.tpm === record.key.tpm;
  // Seen by two organisations, one key would link their devices.
  if (folder && !isSame) await discardGeneration(folder);
}

async function pendingRequest(enrolment: Enrolment): Promise<string> {
  const folder = await pendingGeneration(enrolment.state);
  if (!folder) return await createRequest(enrolment);
  enrolment.report("Continuing an unfinished enrolment with its key");
  return folder;
}

export const createRequest = ({ state, record }: Pick<Enrolment, "state" | "record">): Promise<string> =>
  newGeneration(state, async (folder) => {
    await createDeviceKey(record.key, folder);
    await writeRequest(folder, await openDeviceKey(record.key, folder));
  });

const ANSWER = "answer.json";

/** The answer of an enrolment that was interrupted after it came. */
async function readAnswer(folder: string): Promise<IssuedCertificate | undefined> {
  const text = await readIfPresent(path.join(folder, ANSWER));
  return text === undefined ? undefined : (JSON.parse(text) as IssuedCertificate);
}

/** @returns undefined when the service has enrolled this key before: that answer is lost, and a new key is needed */
async function requestCertificate(enrolment: Enrolment, folder: string) {
  try {
    return await send(enrolment, folder);
  } catch (error) {
    if (!(error instanceof ServiceRefusal) || error.code !== "key_already_enrolled") throw error;
    enrolment.report(
      "The service has enrolled this key before, but its answer was lost: starting over with a new key",
    );
    await discardGeneration(folder);
    return undefined;
  }
}

async function send({ record, state, code, service }: Enrolment, folder: string): Promise<IssuedCertificate> {
  const key: DeviceKey = await openDeviceKey(record.key, folder);
  const request = await readRequest(folder);
  const issued =
    record.key.kind === "file"
      ? await service.enroll({ code: await code(), csr: request.pem })
      : await attestedEnrolment({ record, state, folder, code: await code(), request, service });
  verifyIssued(issued, key);
  // The code is used up: from here on, this answer is all there is.
  await createPrivateFile(path.join(folder, ANSWER), JSON.stringify(issued));
  return issued;
}

async function install({ state, record }: Enrolment, folder: string, issued: IssuedCertificate) {
  const certificate = verifyIssued(issued, await openDeviceKey(record.key, folder));
  const caFile = path.join(state, "ca.pem");
  const pinned = await readIfPresent(caFile);
  if (pinned === undefined) await trustAuthorities(state, issued.ca);
  else if (!parseCertificates(pinned).some(({ publicKey }) => certificate.verify(publicKey)))
    throw new Error(`the certificate's CA is not in ${caFile}: is this another service?`);
  await writeCertificate(folder, certificate);
  const enrolled = { ...record, deviceId: issued.deviceId, attestation: issued.attestation };
  await writeRecord(state, enrolled);
  await useGeneration(state, folder);
  await rm(path.join(folder, ANSWER), { force: true });
  return enrolled;
}
