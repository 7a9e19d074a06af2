/** Renews the certificate of a device (device-identity.md §1): with its key, or with a new one. */
import { copyFile } from "node:fs/promises";
import path from "node:path";
import { renewalQualifyingData } from "@signet/protocol/tpm/qualifying-data";
import { attestationKey, evidenceOf } from "./attested-enrolment.ts";
import { freshRequest } from "./enrol.ts";
import { checkIssued, takeAuthorities, writeCertificate } from "./issued.ts";
import { openDeviceKey, tpmOf } from "./keys/open-device-key.ts";
import { readBlobs } from "./keys/tpm-key.ts";
import { type RequestFile, readRequest, writeRequest } from "./request-file.ts";
import { type DeviceService, type Evidence, ServiceRefusal } from "./service/device-service.ts";
import { mtlsEndpoints } from "./service/mtls-endpoints.ts";
import { type EnrolledDevice, identityOf, readEnrolledDevice } from "./state/enrolled-device.ts";
import { discardGeneration, newGeneration, pendingGeneration, useGeneration } from "./state/generations.ts";
import { withLock } from "./state/lock.ts";
import { withTpm } from "./tpm/tpm.ts";

export interface Renewal {
  readonly state: string;
  readonly service: DeviceService;
  /** Otherwise the key stays. */
  readonly withNewKey: boolean;
}

/**
 * Whatever a renewal that was cut off has begun is finished first: the service gives the same answer to the same key again.
 * @returns the device with its new certificate. @throws ServiceRefusal, CallFailed
 */
export async function renew({ state, service, withNewKey }: Renewal): Promise<EnrolledDevice> {
  return await withLock(state, async () => {
    const device = await readEnrolledDevice(state);
    const folder = (await pendingGeneration(state)) ?? (await nextRequest(device, withNewKey));
    try {
      await renewInto(device, service, folder);
    } catch (error) {
      // Every other request stays: the service may have answered it already, and would answer no other one.
      if (error instanceof ServiceRefusal && HOPELESS.test(error.code)) await discardGeneration(folder);
      throw error;
    }
    return await readEnrolledDevice(state);
  });
}

/** What is wrong with the request itself (device-identity.md §1): it is of no use at the next try either. */
const HOPELESS = /^(csr|key|attest)_/;

const keyFiles = { file: "key.pem", tpm: "key.tpm" } as const;

async function nextRequest(device: EnrolledDevice, withNewKey: boolean): Promise<string> {
  const { state, record } = device;
  if (withNewKey) return await freshRequest({ state, record });
  const name = keyFiles[record.key.kind];
  return await newGeneration(state, async (folder) => {
    await copyFile(path.join(device.folder, name), path.join(folder, name));
    await writeRequest(folder, await openDeviceKey(record.key, folder));
  });
}

async function renewInto(device: EnrolledDevice, service: DeviceService, folder: string): Promise<void> {
  const { state, record } = device;
  const { renew: url } = await mtlsEndpoints(service, record);
  const request = await readRequest(folder);
  const evidence = record.key.kind === "tpm" ? await renewalEvidence(device, folder, request) : {};
  const issued = await service.renew(url, await identityOf(device), { csr: request.pem, ...evidence });
  const certificate = checkIssued(issued, await openDeviceKey(record.key, folder));
  if (issued.deviceId !== device.deviceId) throw new Error("the service's certificate is for another device");
  const isKnown = device.authorities.some(({ publicKey }) => certificate.verify(publicKey));
  if (!isKnown) {
    const known = await takeAuthorities(state, await service.caPem());
    if (!known.some(({ publicKey }) => certificate.verify(publicKey)))
      throw new Error("the service's certificate is of a CA that is not in its ca.pem");
  }
  await writeCertificate(folder, certificate);
  await useGeneration(state, folder);
}

/** Sent for a key that is kept too: it tells that the TPM is still the same. */
async function renewalEvidence(
  device: EnrolledDevice,
  folder: string,
  request: RequestFile,
): Promise<Evidence> {
  const { state, record, deviceId, certificate } = device;
  const ak = await attestationKey(record, state);
  const key = await readBlobs(path.join(folder, keyFiles.tpm));
  const data = renewalQualifyingData(record.organisation, deviceId, certificate.raw, request.der);
  return await withTpm(tpmOf(record.key), (tpm) => evidenceOf(tpm, { key, ak }, data));
}
