/** The `Client-Cert` header of a TLS-terminating proxy: RFC 9440 §2.1, or nginx's URL-encoded PEM. */
import { X509Certificate } from "node:crypto";

export type CertificateFormat = "rfc9440" | "nginx";

/** The header holds no certificate: a fault of the proxy's configuration. */
export class MalformedCertificate extends Error {
  constructor(message: string) {
    super(message);
    this.name = "MalformedCertificate";
  }
}

/** A certificate is one or two KiB; all headers together may have 16. */
const MAX_LENGTH = 15 * 1024;

/**
 * @param values every field of that name
 * @returns DER; undefined without a field
 * @throws MalformedCertificate for several fields, and for anything but one certificate in the expected form
 */
export function forwardedCertificate(
  values: readonly string[] | undefined,
  format: CertificateFormat,
): Buffer | undefined {
  const [value, ...others] = values ?? [];
  if (value === undefined) return undefined;
  // One of them was sent by the client.
  if (others.length > 0) throw new MalformedCertificate("Client-Cert is repeated");
  if (value.length > MAX_LENGTH) throw new MalformedCertificate("Client-Cert is too long");
  const der = format === "nginx" ? derOfEscapedPem(value) : derOfByteSequence(value);
  return requireSingleCertificate(der);
}

/**
 * `Client-Cert-Chain`, a list of byte sequences in one or more fields (RFC 9440 §2.3), in either format: nginx has no form for it.
 * @throws MalformedCertificate
 */
export function forwardedChain(values: readonly string[] | undefined, max: number): readonly Buffer[] {
  const items = (values ?? [])
    .join(",")
    .split(",")
    .map((item) => item.trim());
  if (values === undefined || (items.length === 1 && items[0] === "")) return [];
  if (items.length > max) throw new MalformedCertificate("Client-Cert-Chain is too long");
  return items.map((item) => requireSingleCertificate(derOfByteSequence(item)));
}

/** A Byte Sequence item (RFC 8941 §3.3.5); RFC 9440 defines no parameters. */
function derOfByteSequence(value: string): Buffer {
  const [, base64] = /^:([A-Za-z0-9+/]+={0,2}):$/.exec(value) ?? [];
  if (base64 === undefined) throw new MalformedCertificate("Client-Cert is not a byte sequence (RFC 9440)");
  return exactBase64(base64);
}

const PEM = /^-----BEGIN CERTIFICATE-----\n([A-Za-z0-9+/=\n]+)\n-----END CERTIFICATE-----\n?$/;

function derOfEscapedPem(value: string): Buffer {
  let text: string;
  try {
    text = decodeURIComponent(value);
  } catch {
    throw new MalformedCertificate("Client-Cert is not URL-encoded");
  }
  const [, lines] = PEM.exec(text) ?? [];
  if (lines === undefined) throw new MalformedCertificate("Client-Cert is not one certificate in PEM");
  return exactBase64(lines.replaceAll("\n", ""));
}

function exactBase64(text: string): Buffer {
  const bytes = Buffer.from(text, "base64");
  if (bytes.toString("base64") !== text) throw new MalformedCertificate("Client-Cert is not base64");
  return bytes;
}

/** No trailing or leading bytes: the device is identified by the hash of the certificate. */
function requireSingleCertificate(der: Buffer): Buffer {
  let raw: Buffer;
  try {
    ({ raw } = new X509Certificate(der));
  } catch {
    throw new MalformedCertificate("Client-Cert is not a certificate");
  }
  if (!raw.equals(der)) throw new MalformedCertificate("Client-Cert is more than one certificate");
  return der;
}
