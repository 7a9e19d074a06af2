/** Renews a device's certificate (device-identity.md §1), with its key or with a new one. */
import { copyFile } from "node:fs/promises";
import path from "node:path";
import { renewalQualifyingData } from "@signet/protocol/tpm/qualifying-data";
import { attestationKey, certifyKey } from "../enrolment/attested-enrolment.ts";
import { createRequest } from "../enrolment/enrol.ts";
import {
  type CertificateRequest,
  readRequest,
  trustAuthorities,
  verifyIssued,
  writeCertificate,
  writeRequest,
} from "../enrolment/issued-certificate.ts";
import { openDeviceKey, readTpmKeyFile, requireTpm } from "../keys/open-device-key.ts";
import {
  type DeviceService,
  type Evidence,
  mtlsEndpoints,
  ServiceRefusal,
} from "../service/device-service.ts";
import { lockState } from "../state/device-record.ts";
import { type EnrolledDevice, identityOf, issuerOf, readEnrolledDevice } from "../state/enrolled-device.ts";
import { discardGeneration, newGeneration, pendingGeneration, useGeneration } from "../state/generations.ts";
import { withTpm } from "../tpm/tpm.ts";

export interface Renewal {
  readonly state: string;
  readonly service: DeviceService;
  readonly withNewKey: boolean;
}

/**
 * Finishes an interrupted renewal first: the service answers the same key the same way again.
 * @returns the device with its new certificate. @throws ServiceRefusal, CallFailed, Locked
 */
export async function renew({ state, service, withNewKey }: Renewal): Promise<EnrolledDevice> {
  return await lockState(state, async () => {
    const device = await readEnrolledDevice(state);
    const folder = (await pendingGeneration(state)) ?? (await nextRequest(device, withNewKey));
    try {
      await renewInto(device, service, folder);
    } catch (error) {
      // Any other request stays: the service may have answered it already, and would not answer a different one.
      if (error instanceof ServiceRefusal && INVALID_REQUEST.test(error.code))
        await discardGeneration(folder);
      throw error;
    }
    return await readEnrolledDevice(state);
  });
}

/** Errors of the request itself (device-identity.md §1): sending it again is no use. */
const INVALID_REQUEST = /^(csr|key|attest)_/;

const keyFiles = { file: "key.pem", tpm: "key.tpm" } as const;

async function nextRequest({ state, record, folder }: EnrolledDevice, withNewKey: boolean): Promise<string> {
  if (withNewKey) return await createRequest({ state, record });
  const name = keyFiles[record.key.kind];
  return await newGeneration(state, async (next) => {
    await copyFile(path.join(folder, name), path.join(next, name));
    await writeRequest(next, await openDeviceKey(record.key, next));
  });
}

async function renewInto(device: EnrolledDevice, service: DeviceService, folder: string): Promise<void> {
  const { state, record } = device;
  const { renew: url } = await mtlsEndpoints(service, record);
  const request = await readRequest(folder);
  const evidence = record.key.kind === "tpm" ? await renewalEvidence(device, folder, request) : {};
  const issued = await service.renew(url, await identityOf(device), { csr: request.pem, ...evidence });
  const certificate = verifyIssued(issued, await openDeviceKey(record.key, folder));
  if (issued.deviceId !== device.deviceId) throw new Error("the service's certificate is for another device");
  if (!issuerOf(certificate, device.authorities)) {
    const authorities = await trustAuthorities(state, await service.caPem());
    if (!issuerOf(certificate, authorities))
      throw new Error("the certificate's CA is not in the service's ca.pem");
  }
  await writeCertificate(folder, certificate);
  await useGeneration(state, folder);
}

/** Also for a key that stays: it shows that the TPM is still the same. */
async function renewalEvidence(
  { state, record, deviceId, certificate }: EnrolledDevice,
  folder: string,
  request: CertificateRequest,
): Promise<Evidence> {
  const ak = await attestationKey(record, state);
  const key = await readTpmKeyFile(path.join(folder, keyFiles.tpm));
  const data = renewalQualifyingData(record.organisation, deviceId, certificate.raw, request.der);
  return await withTpm(requireTpm(record.key), (tpm) => certifyKey(tpm, key, ak, data));
}
