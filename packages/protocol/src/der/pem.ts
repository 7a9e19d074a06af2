/** Certificates and public keys in PEM (RFC 7468), and base64 as in x5c (RFC 7515 §4.1.6). Platform-independent. */
import { DerError } from "./der.ts";

/** Of a certificate of 16 KiB, with a line break after every character or two. */
const MAX_CHARACTERS = 64 * 1024;

/** The one certificate in a text; other text may surround it, as from OpenSSL. @throws DerError for none, or more than one */
export const certificateInPem = (pem: string): Uint8Array<ArrayBuffer> => blockInPem(pem, "CERTIFICATE");

/** The bytes of the one SubjectPublicKeyInfo of a text (RFC 7468 §13). @throws DerError */
export const publicKeyInPem = (pem: string): Uint8Array<ArrayBuffer> => blockInPem(pem, "PUBLIC KEY");

function blockInPem(pem: string, label: string): Uint8Array<ArrayBuffer> {
  const [head, tail] = [`-----BEGIN ${label}-----`, `-----END ${label}-----`];
  const [begin, end] = [pem.indexOf(head), pem.indexOf(tail)];
  const isOne = begin >= 0 && begin === pem.lastIndexOf(head) && end > begin && end === pem.lastIndexOf(tail);
  if (!isOne || end > begin + MAX_CHARACTERS) throw new DerError(`not one ${label.toLowerCase()} in PEM`);
  return bytesOfBase64(pem.slice(begin + head.length, end).replace(/[ \t\r\n]/g, ""));
}

/** Lines of 64 characters (RFC 7468 §2). */
export const pemOfCertificate = (der: Uint8Array): string =>
  `-----BEGIN CERTIFICATE-----\n${base64Of(der).replace(/.{64}(?=.)/g, "$&\n")}\n-----END CERTIFICATE-----\n`;

/** Plain base64 in the one spelling of it (RFC 4648 §4). @throws DerError */
export function bytesOfBase64(text: string): Uint8Array<ArrayBuffer> {
  if (text.length > MAX_CHARACTERS || !/^[A-Za-z0-9+/]*={0,2}$/.test(text)) throw notBase64();
  let binary: string;
  try {
    binary = atob(text);
  } catch {
    throw notBase64();
  }
  // Decoders do not look at the padding, nor at the bits that are left over.
  if (btoa(binary) !== text) throw notBase64();
  return Uint8Array.from(binary, (character) => character.charCodeAt(0));
}

export const base64Of = (bytes: Uint8Array): string =>
  btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));

/** Without padding (RFC 4648 §5), as JWKs have their numbers. */
export const base64urlOf = (bytes: Uint8Array): string =>
  base64Of(bytes).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");

const notBase64 = () => new DerError("it is not base64");
