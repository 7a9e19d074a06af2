/** Signed notes (C2SP signed-note) with Ed25519, and witnesses' cosignatures on them (C2SP tlog-cosignature), by WebCrypto. */
import { configurationError } from "../errors.ts";
import { concatBytes, decodeBase64, isSameBytes, sha256, utf8 } from "./bytes.ts";

/** 1: a log's signature. 4: a witness's, with its time. */
type KeyType = 1 | 4;

/** As written: `<name>+<key id>+<base64 of type and key>`. */
export interface WrittenKey {
  readonly name: string;
  readonly type: KeyType;
  /** 4 bytes, hexadecimal. */
  readonly keyId: string;
  readonly publicKey: Uint8Array<ArrayBuffer>;
}

export interface NoteSignature {
  readonly name: string;
  readonly keyId: string;
  /** What follows the key id. */
  readonly bytes: Uint8Array<ArrayBuffer>;
}

export interface Note {
  /** With its last line end. */
  readonly text: string;
  readonly signatures: readonly NoteSignature[];
}

const MAX_SIGNATURES = 100;
const SIGNATURE_BYTES = 64;
const TIME_BYTES = 8;

/** Spaces and `+` end a name. */
const isKeyName = (name: string): boolean =>
  name !== "" && name.length <= 255 && !/[\s\p{Z}+\p{Cc}]/u.test(name);

/** @returns undefined for what is no Ed25519 key of one of the two types; its id is checked by `importKey` */
export function parseVerifierKey(text: string): WrittenKey | undefined {
  const [, name = "", keyId = "", encoded = ""] =
    /^([^+]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/=]{44})$/.exec(text) ?? [];
  const bytes = decodeBase64(encoded);
  const type = bytes?.[0];
  if (bytes?.length !== 33 || (type !== 1 && type !== 4) || !isKeyName(name)) return undefined;
  return { name, type, keyId, publicKey: bytes.slice(1) };
}

/** @throws SignetError `configuration`: the id is not that of the name and key, so one of them is misspelt */
export async function importKey({ name, type, keyId, publicKey }: WrittenKey): Promise<CryptoKey> {
  const id = (await sha256(concatBytes(utf8(`${name}\n`), Uint8Array.of(type), publicKey))).subarray(0, 4);
  if (hexOf(id) !== keyId)
    throw configurationError(`The key of ${name} is misspelt: its id belongs to another name or key.`);
  return crypto.subtle.importKey("raw", publicKey, { name: "Ed25519" }, false, ["verify"]);
}

const hexOf = (bytes: Uint8Array): string =>
  [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");

/** @returns undefined when it is not a signed note; nothing is verified */
export function parseNote(note: string): Note | undefined {
  const end = note.lastIndexOf("\n\n");
  if (end < 0 || !note.endsWith("\n")) return undefined;
  const text = note.slice(0, end + 1);
  if (/[\p{Cc}]/u.test(text.replaceAll("\n", ""))) return undefined;
  const lines = note.slice(end + 2, -1).split("\n");
  const signatures = lines.length > MAX_SIGNATURES ? [undefined] : lines.map(parseSignature);
  return signatures.includes(undefined)
    ? undefined
    : { text, signatures: signatures.filter((one) => one !== undefined) };
}

function parseSignature(line: string): NoteSignature | undefined {
  const [dash, name = "", encoded = "", ...more] = line.split(" ");
  const bytes = decodeBase64(encoded);
  if (dash !== "\u2014" || !isKeyName(name) || !bytes || bytes.length < 5 || more.length > 0)
    return undefined;
  return { name, keyId: hexOf(bytes.subarray(0, 4)), bytes: bytes.slice(4) };
}

/** Whether this key has signed the note: as the log (type 1), or as a witness (type 4) at whatever time. */
export async function hasSigned(
  { text, signatures }: Note,
  written: WrittenKey,
  key: CryptoKey,
): Promise<boolean> {
  const found = signatures.find(({ name, keyId }) => name === written.name && keyId === written.keyId);
  if (!found) return false;
  const { bytes } = found;
  if (written.type === 1) return verify(key, bytes, utf8(text));
  if (bytes.length !== TIME_BYTES + SIGNATURE_BYTES) return false;
  const time = new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0);
  return verify(key, bytes.slice(TIME_BYTES), utf8(`cosignature/v1\ntime ${time}\n${text}`));
}

async function verify(
  key: CryptoKey,
  signature: Uint8Array<ArrayBuffer>,
  text: Uint8Array<ArrayBuffer>,
): Promise<boolean> {
  if (signature.length !== SIGNATURE_BYTES) return false;
  return crypto.subtle.verify({ name: "Ed25519" }, key, signature, text);
}

/** A key under two names is one. */
export const isSameKey = (one: WrittenKey, other: WrittenKey): boolean =>
  isSameBytes(one.publicKey, other.publicKey);
