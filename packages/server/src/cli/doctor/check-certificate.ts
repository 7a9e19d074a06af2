/** `signet doctor`: checks the server certificate of the mTLS listener. */
import { X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { isIP } from "node:net";
import { createSecureContext } from "node:tls";
import type { Config } from "../../config/config.ts";
import { errorMessage } from "../output.ts";
import { type Check, fail, ok, warn } from "./check-configuration.ts";

const SUBJECT = "mTLS certificate";
const WARN_DAYS = 14;
const DAY_MS = 86_400_000;

/** @param now milliseconds. @returns no check without an mTLS listener */
export async function mtlsCertificateCheck({ mtls, mtlsBaseUrl }: Config, now: number): Promise<Check[]> {
  if (!mtls) return [];
  const { certificateFile, keyFile } = mtls;
  try {
    const [cert, key] = await Promise.all([readFile(certificateFile), readFile(keyFile)]);
    createSecureContext({ cert, key });
    return [certificateCheck(new X509Certificate(cert), URL.parse(mtlsBaseUrl ?? "")?.hostname ?? "", now)];
  } catch (error) {
    const remedy =
      "Set SIGNET_MTLS_CERT_FILE and SIGNET_MTLS_KEY_FILE to a certificate and its private key, in PEM.";
    return [fail(SUBJECT, errorMessage(error), remedy)];
  }
}

function certificateCheck(certificate: X509Certificate, host: string, now: number): Check {
  const end = certificate.validToDate.getTime();
  const day = certificate.validToDate.toISOString().slice(0, 10);
  const name = host.replace(/^\[(.*)\]$/, "$1");
  const known = isIP(name) === 0 ? certificate.checkHost(name) : certificate.checkIP(name);
  if (known === undefined)
    return fail(
      SUBJECT,
      `doesn't cover ${name}, the host that devices use`,
      "Set SIGNET_MTLS_BASE_URL to a host name in the certificate.",
    );
  if (end <= now)
    return fail(SUBJECT, `expired on ${day}`, "Renew the certificate; the server reloads it automatically.");
  if (end - now < WARN_DAYS * DAY_MS)
    return warn(SUBJECT, `expires on ${day}`, "Renew the certificate; the server reloads it automatically.");
  return ok(SUBJECT, `covers ${name}, expires on ${day}`);
}
