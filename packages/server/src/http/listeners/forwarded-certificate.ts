/** A certificate as a proxy writes it into the header `Client-Cert`: RFC 9440 §2.1, or nginx's URL-encoded PEM. */
import { X509Certificate } from "node:crypto";

export type CertificateFormat = "rfc9440" | "nginx";

/** What stands there is no certificate: for the proxy's operator. */
export class MalformedCertificate extends Error {
  constructor(message: string) {
    super(message);
    this.name = "MalformedCertificate";
  }
}

/** A certificate is one or two kilobytes; header fields together have sixteen. */
const LONGEST = 15 * 1024;

/**
 * @param values every field of that name, one each
 * @returns DER; undefined when there is no field
 * @throws MalformedCertificate for two fields, and for whatever is not one certificate in the one form
 */
export function forwardedCertificate(
  values: readonly string[] | undefined,
  format: CertificateFormat,
): Buffer | undefined {
  const [value, ...others] = values ?? [];
  if (value === undefined) return undefined;
  // One of them is the client's own.
  if (others.length > 0) throw new MalformedCertificate("Client-Cert is there more than once");
  if (value.length > LONGEST) throw new MalformedCertificate("Client-Cert is too long");
  const der = format === "nginx" ? derOfEscapedPem(value) : derOfByteSequence(value);
  return requireWhole(der);
}

/** An Item whose value is a Byte Sequence (RFC 8941 §3.3.5); RFC 9440 defines no parameters. */
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

/** Nothing before it and nothing behind it: its hash is what it is known by. */
function requireWhole(der: Buffer): Buffer {
  let raw: Buffer;
  try {
    ({ raw } = new X509Certificate(der));
  } catch {
    throw new MalformedCertificate("Client-Cert is not a certificate");
  }
  if (!raw.equals(der)) throw new MalformedCertificate("Client-Cert is more than one certificate");
  return der;
}
