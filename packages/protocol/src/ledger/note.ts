/** Signed notes (C2SP signed-note) with Ed25519, and the cosignatures of witnesses on them (C2SP tlog-cosignature). */
import { createPublicKey, hash, type KeyObject, sign, verify } from "node:crypto";

/** `0x01`: a signature on the note. `0x04`: a witness's, with the time at which it was made. */
export type NoteKeyType = 1 | 4;

/** A public key and its name; in text `<name>+<key id>+<base64 of type and key>`. */
export interface VerifierKey {
  readonly name: string;
  readonly type: NoteKeyType;
  /** 32 bytes. */
  readonly publicKey: Buffer;
}

export interface NoteSigner {
  readonly name: string;
  readonly privateKey: KeyObject;
}

export interface NoteSignature {
  readonly name: string;
  readonly keyId: string;
  /** What follows the key id. */
  readonly bytes: Buffer;
  /** As it stands in the note, without its line end. */
  readonly line: string;
}

export interface Note {
  /** With its last line end. */
  readonly text: string;
  readonly signatures: readonly NoteSignature[];
}

const MAX_NOTE_LENGTH = 64 * 1024;
const MAX_SIGNATURES = 100;
const SIGNATURE_BYTES = 64;
const TIME_BYTES = 8;

/** Without spaces and `+`, which end a name. */
export const isKeyName = (name: string): boolean =>
  name.length > 0 && name.length <= 255 && !/[\s\p{Z}+\p{Cc}]/u.test(name) && name.isWellFormed();

const keyIdOf = ({ name, type, publicKey }: VerifierKey): string =>
  hash("sha256", Buffer.concat([Buffer.from(`${name}\n`), Buffer.of(type), publicKey]), "buffer")
    .subarray(0, 4)
    .toString("hex");

export const formatVerifierKey = (key: VerifierKey): string =>
  `${key.name}+${keyIdOf(key)}+${Buffer.concat([Buffer.of(key.type), key.publicKey]).toString("base64")}`;

/** @returns undefined for anything but a key of these two types, with its right id */
export function parseVerifierKey(text: string): VerifierKey | undefined {
  const [name = "", keyId, encoded = "", ...more] = text.length > 512 ? [] : text.split(/\+/);
  // Base64 has a `+` too.
  const bytes = decode([encoded, ...more].join("+"));
  const type = bytes?.[0];
  if (bytes?.length !== 33 || (type !== 1 && type !== 4) || !isKeyName(name)) return undefined;
  const key: VerifierKey = { name, type, publicKey: bytes.subarray(1) };
  return keyIdOf(key) === keyId ? key : undefined;
}

/** The raw public key of an Ed25519 key. */
export function rawPublicKey(key: KeyObject): Buffer {
  const { x } = (key.type === "private" ? createPublicKey(key) : key).export({ format: "jwk" });
  return Buffer.from(x ?? "", "base64url");
}

const keyObject = (publicKey: Buffer): KeyObject =>
  createPublicKey({
    key: { kty: "OKP", crv: "Ed25519", x: publicKey.toString("base64url") },
    format: "jwk",
  });

/** A note with one signature. @param text ends with a line end */
export function signNote(text: string, signer: NoteSigner): string {
  if (!isNoteText(text)) throw new TypeError("not the text of a note");
  const signature = sign(null, Buffer.from(text), signer.privateKey);
  return `${text}\n${signatureLine(signer, 1, signature)}\n`;
}

/** The line with which a witness cosigns. @param time seconds since the epoch */
export function cosignatureLine(text: string, signer: NoteSigner, time: number): string {
  const stamp = Buffer.alloc(TIME_BYTES);
  stamp.writeBigUInt64BE(BigInt(time));
  const signature = sign(null, cosigned(text, String(time)), signer.privateKey);
  return signatureLine(signer, 4, Buffer.concat([stamp, signature]));
}

const cosigned = (text: string, time: string): Buffer => Buffer.from(`cosignature/v1\ntime ${time}\n${text}`);

function signatureLine({ name, privateKey }: NoteSigner, type: NoteKeyType, signature: Buffer): string {
  const keyId = Buffer.from(keyIdOf({ name, type, publicKey: rawPublicKey(privateKey) }), "hex");
  return `\u2014 ${name} ${Buffer.concat([keyId, signature]).toString("base64")}`;
}

const isNoteText = (text: string): boolean =>
  text.endsWith("\n") && text.isWellFormed() && !/[\p{Cc}]/u.test(text.replaceAll("\n", ""));

/** @returns undefined when it is not a signed note; nothing is verified */
export function parseNote(note: string): Note | undefined {
  const end = note.length > MAX_NOTE_LENGTH ? -1 : note.lastIndexOf("\n\n");
  if (end < 0) return undefined;
  const text = note.slice(0, end + 1);
  const signatures = parseSignatures(note.slice(end + 2));
  return isNoteText(text) && signatures && signatures.length > 0 ? { text, signatures } : undefined;
}

/** Signature lines, as a witness answers with; undefined when one is malformed. */
export function parseSignatures(lines: string): NoteSignature[] | undefined {
  if (lines.length > MAX_NOTE_LENGTH || (lines !== "" && !lines.endsWith("\n"))) return undefined;
  const parsed = lines.split("\n").slice(0, -1).map(parseSignature);
  if (parsed.length > MAX_SIGNATURES || parsed.includes(undefined)) return undefined;
  return parsed.filter((one) => one !== undefined);
}

function parseSignature(line: string): NoteSignature | undefined {
  const [dash, name = "", encoded = "", ...more] = line.split(" ");
  const bytes = decode(encoded);
  if (dash !== "\u2014" || !isKeyName(name) || !bytes || bytes.length < 5 || more.length > 0)
    return undefined;
  return { name, keyId: bytes.subarray(0, 4).toString("hex"), bytes: bytes.subarray(4), line };
}

/** A signature of this key, whether it is right or not. */
export function findSignature(
  signatures: readonly NoteSignature[],
  key: VerifierKey,
): NoteSignature | undefined {
  const keyId = keyIdOf(key);
  return signatures.find((one) => one.name === key.name && one.keyId === keyId);
}

/** Whether the key has signed the note itself. */
export function isSignedBy({ text, signatures }: Note, key: VerifierKey): boolean {
  const found = key.type === 1 ? findSignature(signatures, key) : undefined;
  if (found?.bytes.length !== SIGNATURE_BYTES) return false;
  return verify(null, Buffer.from(text), keyObject(key.publicKey), found.bytes);
}

/** When the witness cosigned, in seconds since the epoch; undefined when it did not. */
export function cosignedAt({ text, signatures }: Note, key: VerifierKey): number | undefined {
  const found = key.type === 4 ? findSignature(signatures, key) : undefined;
  if (found?.bytes.length !== TIME_BYTES + SIGNATURE_BYTES) return undefined;
  const time = found.bytes.readBigUInt64BE(0);
  const signature = found.bytes.subarray(TIME_BYTES);
  if (!verify(null, cosigned(text, String(time)), keyObject(key.publicKey), signature)) return undefined;
  return time <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(time) : undefined;
}

/** Canonical base64 with padding; Node decodes many spellings. */
function decode(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, "base64");
  return text !== "" && bytes.toString("base64") === text ? bytes : undefined;
}
