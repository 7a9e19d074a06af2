/** Certificates for tests, right and wrong ones, made on the spot so that no private key lies in the tree. */
import { createPublicKey, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { addressBytes } from "../certificates/general-names.ts";
import {
  derBitString,
  derInteger,
  derName,
  derOctetString,
  derOid,
  derSequence,
  derTime,
  derTrue,
  derValue,
} from "../der/der-writer.ts";

const ECDSA = { sha256: "2a8648ce3d040302", sha1: "2a8648ce3d0401" } as const;

export interface TestCertificateInput {
  readonly subject: string;
  /** Itself when left out. */
  readonly issuer?: TestCertificate;
  /** Signs what this certificate issues: a new P-256 key when left out. */
  readonly privateKey?: KeyObject;
  /** What it certifies, when that is not the private key's public one. */
  readonly publicKey?: KeyObject;
  readonly isCa?: boolean;
  readonly pathLength?: number;
  /** Bits of keyUsage; the extension is left out when null. */
  readonly keyUsage?: readonly number[] | null;
  /** Subject alternative names. */
  readonly uris?: readonly string[];
  readonly hosts?: readonly string[];
  readonly addresses?: readonly string[];
  readonly emails?: readonly string[];
  /** A complete value stands there as it is. */
  readonly validFrom?: Date | Buffer;
  readonly validTo?: Date;
  readonly more?: readonly Buffer[];
  readonly digest?: "sha256" | "sha1";
  readonly version?: number;
  /** Signs it instead of the issuer. */
  readonly forger?: KeyObject;
  /** Instead of ECDSA with `digest`. */
  readonly scheme?: SignatureScheme;
}

export interface SignatureScheme {
  /** AlgorithmIdentifier. */
  readonly identifier: Buffer;
  sign(bytes: Buffer, key: KeyObject): Buffer;
}

export interface TestCertificate {
  readonly subject: string;
  readonly privateKey: KeyObject;
  readonly der: Buffer;
  readonly x5c: string;
  readonly pem: string;
}

/** @param oidHex content of the OID. @param value content of the octet string */
export const extension = (oidHex: string, value: Buffer, isCritical = false): Buffer =>
  derSequence(derOid(oidHex), ...(isCritical ? [derTrue] : []), derOctetString(value));

export const newEcKey = (): KeyObject => generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;

const HOUR_MS = 3_600_000;

/** From an hour ago to a day ahead; an ordinary leaf or authority where nothing else is said. */
export function testCertificate(input: TestCertificateInput): TestCertificate {
  const { subject, isCa = false, digest = "sha256", validFrom = new Date(Date.now() - HOUR_MS) } = input;
  const privateKey = input.privateKey ?? newEcKey();
  const scheme = input.scheme ?? {
    identifier: derSequence(derOid(ECDSA[digest])),
    sign: (bytes, key) => sign(digest, bytes, key),
  };
  const publicKey = input.publicKey ?? privateKey;
  const body = derSequence(
    derValue(0xa0, derInteger(input.version ?? 2)),
    derInteger(1 + Math.floor(Math.random() * 2 ** 46)),
    scheme.identifier,
    derName(input.issuer?.subject ?? subject),
    derSequence(
      validFrom instanceof Date ? derTime(validFrom) : validFrom,
      derTime(input.validTo ?? new Date(Date.now() + 24 * HOUR_MS)),
    ),
    derName(subject),
    publicOf(publicKey),
    derValue(0xa3, derSequence(...extensionsOf(input, isCa))),
  );
  const signer = input.forger ?? input.issuer?.privateKey ?? privateKey;
  const der = derSequence(body, scheme.identifier, derBitString(scheme.sign(body, signer)));
  const x5c = der.toString("base64");
  const pem = `-----BEGIN CERTIFICATE-----\n${x5c.replace(/.{64}(?=.)/g, "$&\n")}\n-----END CERTIFICATE-----\n`;
  return { subject, privateKey, der, x5c, pem };
}

const publicOf = (key: KeyObject): Buffer =>
  (key.type === "private" ? createPublicKey(key) : key).export({ format: "der", type: "spki" });

function extensionsOf(input: TestCertificateInput, isCa: boolean): Buffer[] {
  const { pathLength, keyUsage, more = [] } = input;
  const names = namesOf(input);
  const usage = keyUsage === undefined ? [isCa ? 5 : 0] : keyUsage;
  const constraints = [
    ...(isCa ? [derTrue] : []),
    ...(pathLength === undefined ? [] : [derInteger(pathLength)]),
  ];
  return [
    extension("551d13", derSequence(...constraints), true),
    ...(usage === null ? [] : [extension("551d0f", usageBits(usage), true)]),
    ...(names.length === 0 ? [] : [extension("551d11", derSequence(...names))]),
    ...more,
  ];
}

/** RFC 5280 §4.2.1.6. */
const namesOf = ({ uris = [], hosts = [], addresses = [], emails = [] }: TestCertificateInput): Buffer[] => [
  ...uris.map((uri) => derValue(0x86, Buffer.from(uri))),
  ...hosts.map((host) => derValue(0x82, Buffer.from(host))),
  ...addresses.map((address) => derValue(0x87, Buffer.from(addressBytes(address) ?? []))),
  ...emails.map((email) => derValue(0x81, Buffer.from(email))),
];

/** A named bit list: no zero bits at its end (X.690 §11.2.2). */
function usageBits(bits: readonly number[]): Buffer {
  const value = bits.reduce((byte, bit) => byte | (0x80 >> bit), 0);
  return derValue(0x03, Buffer.from([7 - Math.max(...bits), value]));
}
