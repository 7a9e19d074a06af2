/** The server's certificate for devices is looked at before anything is opened or made: a pair that does not match stops a start. */
import { readFile } from "node:fs/promises";
import { createSecureContext } from "node:tls";
import type { MtlsSettings } from "../../config/listener-settings.ts";
import { faultOfFile } from "../../config/setting-files.ts";

/** @throws Error with a sentence that names the variables, the files and what to do */
export async function requireCertificate(mtls: MtlsSettings | undefined): Promise<void> {
  if (!mtls) return;
  const { certificateFile, keyFile } = mtls;
  for (const [variable, file] of [
    ["SIGNET_MTLS_CERT_FILE", certificateFile],
    ["SIGNET_MTLS_KEY_FILE", keyFile],
  ] as const) {
    const fault = faultOfFile(file);
    if (fault !== undefined) throw new Error(`${variable}: ${fault}`);
  }
  const [cert, key] = await Promise.all([readFile(certificateFile), readFile(keyFile)]);
  try {
    createSecureContext({ cert });
  } catch (error) {
    throw unusable(`SIGNET_MTLS_CERT_FILE: ${certificateFile} is no certificate in PEM`, error);
  }
  try {
    createSecureContext({ cert, key });
  } catch (error) {
    const isPair = (error as { code?: unknown }).code !== "ERR_OSSL_X509_KEY_VALUES_MISMATCH";
    const what = isPair
      ? "is no private key in PEM"
      : `is not the key of the certificate in ${certificateFile}`;
    throw unusable(`SIGNET_MTLS_KEY_FILE: ${keyFile} ${what}`, error);
  }
}

const unusable = (what: string, cause: unknown): Error =>
  new Error(
    `${what}: set SIGNET_MTLS_CERT_FILE and SIGNET_MTLS_KEY_FILE to a certificate and its private key`,
    {
      cause,
    },
  );
