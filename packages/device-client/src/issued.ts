/** A certificate that the service has given us: looked at before it is used. */
import type { X509Certificate } from "node:crypto";
import path from "node:path";
import type { DeviceKey } from "./keys/device-key.ts";
import type { IssuedCertificate } from "./service/device-service.ts";
import { certificatesIn, readAuthorities } from "./state/enrolled-device.ts";
import { PUBLIC, replaceFile } from "./state/private-file.ts";

/** @throws Error when it is not for our key, or not signed by the CA that came with it */
export function checkIssued({ certificate, ca }: IssuedCertificate, key: DeviceKey): X509Certificate {
  const [issued, ...more] = certificatesIn(certificate);
  if (!issued || more.length > 0) throw new Error("the service's answer holds no certificate");
  if (!issued.publicKey.export({ format: "der", type: "spki" }).equals(key.spki))
    throw new Error("the service's certificate is for another key");
  if (!certificatesIn(ca).some(({ publicKey }) => issued.verify(publicKey)))
    throw new Error("the service's certificate is not signed by its own CA");
  return issued;
}

/** Into the generation; in use only once `useGeneration` says so. */
export const writeCertificate = (folder: string, certificate: X509Certificate): Promise<void> =>
  replaceFile(path.join(folder, "certificate.pem"), certificate.toString(), PUBLIC);

const fingerprints = (certificates: readonly X509Certificate[]) =>
  new Set(certificates.map(({ fingerprint256 }) => fingerprint256));

/**
 * Adds CAs to those that are believed, in front. The organisation's CA is renewed over years: its next one is believed when
 * the service shows it together with one that is believed already.
 * @param bundle PEM of all generations, as `ca.pem` has them
 * @throws Error when none of it is believed yet
 */
export async function takeAuthorities(state: string, bundle: string): Promise<readonly X509Certificate[]> {
  const [known, told] = [await readAuthorities(state), certificatesIn(bundle)];
  if (told.length === 0) throw new Error("the service's ca.pem holds no certificate");
  const knownPrints = fingerprints(known);
  const isFamiliar = told.some(({ fingerprint256 }) => knownPrints.has(fingerprint256));
  if (known.length > 0 && !isFamiliar)
    throw new Error(`none of the service's CAs is in ${path.join(state, "ca.pem")}: is it another service?`);
  const toldPrints = fingerprints(told);
  const all = [...told, ...known.filter(({ fingerprint256 }) => !toldPrints.has(fingerprint256))];
  const text = all.map((one) => one.toString()).join("");
  await replaceFile(path.join(state, "ca.pem"), text, PUBLIC);
  return all;
}
