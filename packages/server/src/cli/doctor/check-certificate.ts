/** `signet doctor`'s check of the certificate that the mTLS listener shows. */
import { X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { isIP } from "node:net";
import { createSecureContext } from "node:tls";
import type { Config } from "../../config/config.ts";
import { reasonOf } from "../reason.ts";
import { type Check, fail, ok, warn } from "./check-configuration.ts";

const SUBJECT = "mTLS certificate";
const SOON_DAYS = 14;
const DAY_MS = 86_400_000;

/** @param now milliseconds. @returns nothing where there is no such listener */
export async function mtlsCertificateCheck({ mtls, mtlsBaseUrl }: Config, now: number): Promise<Check[]> {
  if (!mtls) return [];
  const { certificateFile, keyFile } = mtls;
  try {
    const [cert, key] = await Promise.all([readFile(certificateFile), readFile(keyFile)]);
    createSecureContext({ cert, key });
    return [certificateCheck(new X509Certificate(cert), URL.parse(mtlsBaseUrl ?? "")?.hostname ?? "", now)];
  } catch (error) {
    const remedy =
      "SIGNET_MTLS_CERT_FILE and SIGNET_MTLS_KEY_FILE must be a certificate and its key, in PEM.";
    return [fail(SUBJECT, reasonOf(error), remedy)];
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
      `is not for ${name}, where devices are sent`,
      "Set SIGNET_MTLS_BASE_URL to a name in it.",
    );
  if (end <= now) return fail(SUBJECT, `expired on ${day}`, "Renew it: the server takes it up by itself.");
  if (end - now < SOON_DAYS * DAY_MS)
    return warn(SUBJECT, `expires on ${day}`, "Renew it: the server takes it up by itself.");
  return ok(SUBJECT, `for ${name}, until ${day}`);
}
