/** The request for a certificate, the checks of the answer, and the CAs that are trusted. */
import type { X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { createPrivateFile, PUBLIC, replaceFile } from "@signet/cli-runtime/private-file";
import { csrPem, makeCsr } from "@signet/protocol/csr/make-csr";
import type { DeviceKey } from "../keys/open-device-key.ts";
import type { IssuedCertificate } from "../service/device-service.ts";
import { parseCertificates, readAuthorities } from "../state/enrolled-device.ts";

/** @throws Error unless it is for this key and signed by the CA that came with it */
export function verifyIssued({ certificate, ca }: IssuedCertificate, key: DeviceKey): X509Certificate {
  const [issued, ...more] = parseCertificates(certificate);
  if (!issued || more.length > 0) throw new Error("the service's answer does not hold one certificate");
  if (!issued.publicKey.export({ format: "der", type: "spki" }).equals(key.spki))
    throw new Error("the service's certificate is for another key");
  if (!parseCertificates(ca).some(({ publicKey }) => issued.verify(publicKey)))
    throw new Error("the service's certificate is not signed by its own CA");
  return issued;
}

/** Into the generation, which is in use only after `useGeneration`. */
export const writeCertificate = (folder: string, certificate: X509Certificate): Promise<void> =>
  replaceFile(path.join(folder, "certificate.pem"), certificate.toString(), PUBLIC);

/**
 * Puts further CAs in front of the trusted ones. The organisation's CA is replaced over the years: the next one is trusted
 * when the service shows it together with one that is trusted already.
 * @param bundle PEM, all generations of the CA
 * @throws Error when none of them is trusted yet
 */
export async function trustAuthorities(state: string, bundle: string): Promise<readonly X509Certificate[]> {
  const file = path.join(state, "ca.pem");
  const [trusted, received] = [await readAuthorities(state), parseCertificates(bundle)];
  if (received.length === 0) throw new Error("the service's ca.pem holds no certificate");
  const isAmong = (certificates: readonly X509Certificate[], { fingerprint256 }: X509Certificate) =>
    certificates.some((one) => one.fingerprint256 === fingerprint256);
  if (trusted.length > 0 && !received.some((one) => isAmong(trusted, one)))
    throw new Error(`none of the service's CAs is in ${file}: is this another service?`);
  const all = [...received, ...trusted.filter((one) => !isAmong(received, one))];
  await replaceFile(file, all.map(String).join(""), PUBLIC);
  return all;
}

const FILE = "request.pem";

export interface CertificateRequest {
  readonly pem: string;
  readonly der: Buffer;
}

export async function writeRequest(folder: string, { spki, sign }: DeviceKey): Promise<void> {
  const der = await makeCsr({ spki, algorithm: "ecdsa-sha256", sign });
  await createPrivateFile(path.join(folder, FILE), csrPem(der));
}

export async function readRequest(folder: string): Promise<CertificateRequest> {
  const pem = await readFile(path.join(folder, FILE), "utf8");
  return { pem, der: Buffer.from(pem.replace(/-----[^-]+-----|\s/g, ""), "base64") };
}
