/**
 * Password hashes that other products made, as `user import` stores them until the first sign-in: bcrypt, scrypt, argon2 and
 * PBKDF2. Their costs are bounded where they come in, so that no imported hash makes a sign-in expensive for everybody.
 */
import { createCipheriv, createHash, pbkdf2, scrypt, timingSafeEqual } from "node:crypto";
import { promisify } from "node:util";

/** One verification takes at most about a second, and 128 MiB. */
export const foreignLimits = {
  bcryptCost: 14,
  pbkdf2Iterations: 1_500_000,
  /** N·r·p. */
  scryptWork: 2 ** 20,
  /** 128 MiB for the largest N·r, and what OpenSSL needs beside it. */
  scryptBytes: 144 * 2 ** 20,
  argon2Kibibytes: 131_072,
  /** Kibibytes times passes. */
  argon2Work: 524_288,
  argon2Lanes: 16,
} as const;

/** Why a hash is not taken over, in words. */
export class UnusableHash extends Error {
  override readonly name = "UnusableHash";
}

interface Scrypt {
  readonly kind: "scrypt" | "firebase-scrypt";
  readonly ln: number;
  readonly r: number;
  readonly p: number;
  readonly salt: Buffer;
  readonly hash: Buffer;
}

interface Pbkdf2 {
  readonly kind: "pbkdf2";
  readonly digest: keyof typeof digestBytes;
  readonly iterations: number;
  readonly salt: Buffer;
  readonly hash: Buffer;
}

type Argon2 = {
  readonly kind: "argon2";
  readonly type: "id" | "i" | "d";
  readonly version: number;
  readonly m: number;
  readonly t: number;
  readonly p: number;
  readonly salt: Buffer;
  readonly hash: Buffer;
};

export type ForeignHash = Scrypt | Pbkdf2 | Argon2 | { readonly kind: "bcrypt"; readonly text: string };

const digestBytes = { sha1: 20, sha256: 32, sha512: 64 } as const;
const isDigest = (name: string): name is keyof typeof digestBytes => Object.hasOwn(digestBytes, name);

/** Shorter ones fit other passwords too. */
const MIN_HASH_BYTES = 16;
const MAX_TEXT = 512;

/**
 * Reads a PHC string (`$argon2id$…`, `$scrypt$…`, `$pbkdf2-sha256$…`) or bcrypt's own form, and bounds what it costs.
 * @throws UnusableHash
 */
export function readForeignHash(text: string): ForeignHash {
  if (text.length > MAX_TEXT)
    throw new UnusableHash(`the password hash is longer than ${MAX_TEXT} characters`);
  if (/^\$2[aby]\$/.test(text)) return readBcrypt(text);
  const [nothing, name = "", ...parts] = text.split("$");
  if (nothing === "" && /^argon2(id|i|d)$/.test(name)) return readArgon2(name.slice(6), parts);
  if (nothing === "" && (name === "scrypt" || name === "firebase-scrypt")) return readScrypt(name, parts);
  if (nothing === "" && name.startsWith("pbkdf2")) return readPbkdf2(name, parts);
  throw new UnusableHash("the password hash is neither bcrypt nor a PHC string of argon2, scrypt or PBKDF2");
}

function readBcrypt(text: string): ForeignHash {
  const [, cost] = /^\$2[aby]\$(\d\d)\$[./A-Za-z0-9]{53}$/.exec(text) ?? [];
  if (cost === undefined) throw new UnusableHash("the bcrypt hash is malformed");
  const limit = foreignLimits.bcryptCost;
  if (Number(cost) < 4) throw new UnusableHash("the bcrypt hash is malformed");
  if (Number(cost) > limit) throw tooExpensive(`bcrypt has cost ${cost}, at most ${limit} is accepted`);
  return { kind: "bcrypt", text };
}

function readArgon2(type: string, parts: readonly string[]): ForeignHash {
  // Version 1.0 has no `v=` (0x10).
  const [version, rest] = parts[0]?.startsWith("v=") ? [parts[0], parts.slice(1)] : ["v=16", parts];
  const [costs = "", salt = "", hash = "", ...more] = rest;
  const { m, t, p } = readNumbers(costs, ["m", "t", "p"]);
  if (more.length > 0) throw new UnusableHash("the argon2 hash is malformed");
  return boundedArgon2({
    kind: "argon2",
    type: type as Argon2["type"],
    ...{ version: Number(version.slice(2)), m, t, p },
    ...{ salt: fromBase64(salt), hash: fromBase64(hash) },
  });
}

/** @throws UnusableHash */
export function boundedArgon2(one: Argon2): Argon2 {
  const { version, m, t, p } = one;
  if (version !== 16 && version !== 19) throw new UnusableHash("argon2 has an unknown version");
  const areWhole = [m, t, p].every((cost) => Number.isSafeInteger(cost));
  if (!areWhole || !(t >= 1 && p >= 1 && m >= 8 * p) || one.salt.length < 8)
    throw new UnusableHash("argon2's parameters are not possible");
  const { argon2Kibibytes: memory, argon2Work: work, argon2Lanes: lanes } = foreignLimits;
  if (m > memory || m * t > work || p > lanes)
    throw tooExpensive(
      `argon2 has m=${m},t=${t},p=${p}: at most m=${memory}, m·t=${work}, p=${lanes} is accepted`,
    );
  return longEnough(one);
}

function readScrypt(kind: Scrypt["kind"], parts: readonly string[]): ForeignHash {
  const [costs = "", salt = "", hash = "", ...more] = parts;
  if (more.length > 0) throw new UnusableHash("the scrypt hash is malformed");
  const numbers = readNumbers(costs, ["ln", "r", "p"]);
  return boundedScrypt({ kind, ...numbers, salt: fromBase64(salt), hash: fromBase64(hash) });
}

/** @throws UnusableHash */
export function boundedScrypt(one: Scrypt): Scrypt {
  const { ln, r, p } = one;
  // N < 2^(128·r/8) (RFC 7914 §2): OpenSSL refuses others, at each sign-in.
  if (!(ln >= 1 && ln <= 63 && ln < 16 * r && p >= 1))
    throw new UnusableHash("scrypt's parameters are not possible");
  if (2 ** ln * r * p > foreignLimits.scryptWork || scryptBytes(one) > foreignLimits.scryptBytes)
    throw tooExpensive(
      `scrypt has ln=${ln},r=${r},p=${p}: at most 2^ln·r·p=${foreignLimits.scryptWork}, in 128 MiB, is accepted`,
    );
  return longEnough(one);
}

/** As OpenSSL counts them (EVP_PBE_scrypt). */
const scryptBytes = ({ ln, r, p }: Pick<Scrypt, "ln" | "r" | "p">): number => 128 * r * (2 ** ln + p + 2);

function readPbkdf2(name: string, parts: readonly string[]): ForeignHash {
  const digest = name === "pbkdf2" ? "sha1" : name.slice("pbkdf2-".length);
  const [costs = "", salt = "", hash = "", ...more] = parts;
  if (more.length > 0 || !isDigest(digest)) throw new UnusableHash("the PBKDF2 hash is malformed");
  // Python's passlib writes the number alone, and a dot for the plus sign.
  const iterations = /^\d+$/.test(costs) ? Number(costs) : Number(/(?:^|,)i=(\d+)(?:,|$)/.exec(costs)?.[1]);
  return boundedPbkdf2(digest, iterations, fromBase64(salt), fromBase64(hash));
}

/**
 * Keeps the first block: the others follow from the same input, and each costs as much again (RFC 8018 §5.2).
 * @throws UnusableHash
 */
export function boundedPbkdf2(digest: string, iterations: number, salt: Buffer, hash: Buffer): ForeignHash {
  if (!isDigest(digest)) throw new UnusableHash(`PBKDF2 with "${digest.slice(0, 40)}" is not supported`);
  if (!Number.isSafeInteger(iterations) || iterations < 1)
    throw new UnusableHash("PBKDF2's parameters are not possible");
  const limit = foreignLimits.pbkdf2Iterations;
  if (iterations > limit)
    throw tooExpensive(`PBKDF2 has ${iterations} iterations, at most ${limit} are accepted`);
  return longEnough({
    ...{ kind: "pbkdf2" as const, digest, iterations, salt },
    hash: hash.subarray(0, digestBytes[digest]),
  });
}

/**
 * Firebase encrypts its project's signer key with what scrypt makes of the password, by AES-256-CTR. The key stream alone proves
 * the password too: it is stored as a digest, so that the database holds a salted hash, and the signer key is stored nowhere.
 * @throws UnusableHash
 */
export function firebaseHash(
  passwordHash: Buffer,
  signerKey: Buffer,
  costs: Pick<Scrypt, "ln" | "r" | "salt">,
): ForeignHash {
  if (passwordHash.length !== signerKey.length)
    throw new UnusableHash("the password hash is not as long as the signer key of the hash configuration");
  const stream = passwordHash.map((byte, at) => byte ^ (signerKey[at] ?? 0));
  const hash = digestOf(stream.subarray(0, FIREBASE_STREAM_BYTES));
  return boundedScrypt({ kind: "firebase-scrypt", p: 1, ...costs, hash });
}

/** Of the key stream: as long as every signer key. */
const FIREBASE_STREAM_BYTES = 32;
const digestOf = (bytes: Uint8Array): Buffer => createHash("sha256").update(bytes).digest();

const tooExpensive = (what: string): UnusableHash =>
  new UnusableHash(`the password hash is too expensive: ${what}`);

function longEnough<One extends { readonly hash: Buffer; readonly salt: Buffer }>(one: One): One {
  if (one.hash.length < MIN_HASH_BYTES || one.hash.length > 128)
    throw new UnusableHash(
      `the password hash has ${one.hash.length} bytes, ${MIN_HASH_BYTES} to 128 are accepted`,
    );
  if (one.salt.length > 128) throw new UnusableHash("the password hash's salt is longer than 128 bytes");
  return one;
}

function readNumbers<Name extends string>(text: string, names: readonly Name[]): Record<Name, number> {
  const pairs = Object.fromEntries(text.split(",").map((pair) => pair.split("=")));
  const numbers = names.map((name) => [
    name,
    /^\d{1,9}$/.test(pairs[name] ?? "") ? Number(pairs[name]) : Number.NaN,
  ]);
  if (numbers.some(([, value]) => Number.isNaN(value)))
    throw new UnusableHash(`the password hash lacks one of the parameters ${names.join(", ")}`);
  return Object.fromEntries(numbers);
}

/** With and without padding, of either alphabet, and passlib's. @throws UnusableHash */
export function fromBase64(text: string): Buffer {
  if (!/^[A-Za-z0-9+/._-]*={0,2}$/.test(text)) throw new UnusableHash("the password hash is not base64");
  return Buffer.from(text.replaceAll(".", "+"), "base64");
}

const base64 = (bytes: Buffer): string => bytes.toString("base64").replaceAll("=", "");

/** As it is stored; `readForeignHash` reads it again. */
export function foreignHashText(one: ForeignHash): string {
  if (one.kind === "bcrypt") return one.text;
  const end = `${base64(one.salt)}$${base64(one.hash)}`;
  if (one.kind === "pbkdf2") return `$pbkdf2-${one.digest}$i=${one.iterations}$${end}`;
  if (one.kind === "argon2")
    return `$argon2${one.type}$v=${one.version}$m=${one.m},t=${one.t},p=${one.p}$${end}`;
  return `$${one.kind}$ln=${one.ln},r=${one.r},p=${one.p}$${end}`;
}

/** Whether it is stored in a form that `verifyForeignHash` verifies; argon2 is the password hasher's own. */
export const isForeignHash = (stored: string): boolean =>
  /^\$(2[aby]|scrypt|firebase-scrypt|pbkdf2-\w+)\$/.test(stored);

const BCRYPT_BYTES = 72;

/**
 * Whether the hash covers the whole password. bcrypt ends after 72 bytes: what was typed beyond them may be wrong, and would become
 * the password.
 */
export const isWhole = (stored: string, password: string): boolean =>
  !/^\$2[aby]\$/.test(stored) || Buffer.byteLength(password) <= BCRYPT_BYTES;

const derivePbkdf2 = promisify(pbkdf2);
const deriveScrypt = promisify<string, Buffer, number, object, Buffer>(scrypt);

/** Off the event loop, in libuv's threads. */
export async function verifyForeignHash(stored: string, password: string): Promise<boolean> {
  const one = readForeignHash(stored);
  if (one.kind === "bcrypt") return verifyBcrypt(one.text, password);
  if (one.kind === "argon2") throw new Error("argon2 is verified by the password hasher");
  if (one.kind === "pbkdf2") {
    const { salt, iterations, hash, digest } = one;
    return timingSafeEqual(await derivePbkdf2(password, salt, iterations, hash.length, digest), hash);
  }
  const N = 2 ** one.ln;
  const options = { N, r: one.r, p: one.p, maxmem: scryptBytes(one) + 1_048_576 };
  if (one.kind === "scrypt")
    return timingSafeEqual(await deriveScrypt(password, one.salt, one.hash.length, options), one.hash);
  const key = await deriveScrypt(password, one.salt, 32, options);
  const stream = createCipheriv("aes-256-ctr", key, Buffer.alloc(16)).update(
    Buffer.alloc(FIREBASE_STREAM_BYTES),
  );
  return timingSafeEqual(digestOf(stream), one.hash);
}

async function verifyBcrypt(stored: string, password: string): Promise<boolean> {
  // Loaded with the first of them, to save memory.
  const { verify } = await import("@node-rs/bcrypt");
  // bcrypt's own end of a password is a null byte.
  const matches = await verify(password.replaceAll("\0", " "), stored);
  return matches && !password.includes("\0");
}
