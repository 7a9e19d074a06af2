/** What `firebase auth:export` writes, and the hash configuration that Firebase's console shows. */
import { firebaseHash, foreignHashText, fromBase64 } from "../../../passwords/foreign-hashes.ts";
import {
  type Entry,
  flagOf,
  ignoredOf,
  isMembers,
  type MovedUser,
  parseDocument,
  requireMembers,
  splitName,
  textOf,
  UnusableEntry,
  UnusableFile,
} from "./moved-user.ts";

/** Of the project: the same for all of its users. */
export interface FirebaseHashing {
  readonly signerKey: Buffer;
  readonly saltSeparator: Buffer;
  readonly rounds: number;
  readonly memCost: number;
}

const MIN_SIGNER_BYTES = 32;
const MAX_CONFIG_TEXT = 4_096;

/** `hash_config { algorithm: SCRYPT, base64_signer_key: …, … }` as the console prints it, or the same members as JSON. @throws UnusableFile */
export function readHashConfig(text: string): FirebaseHashing {
  if (text.length > MAX_CONFIG_TEXT) throw new UnusableFile("the hash configuration is too long");
  const member = (name: string): string => {
    const [, value] = new RegExp(`["\\s{,]${name}"?\\s*[:=]\\s*"?([^\\s",}]+)`).exec(` ${text}`) ?? [];
    if (value === undefined) throw new UnusableFile(`the hash configuration has no ${name}`);
    return value;
  };
  const whole = (name: string): number => {
    const value = member(name);
    if (!/^\d{1,3}$/.test(value))
      throw new UnusableFile(`the hash configuration's ${name} is not a whole number`);
    return Number(value);
  };
  if (member("algorithm") !== "SCRYPT")
    throw new UnusableFile("the hash configuration's algorithm is not SCRYPT");
  const [signerKey, saltSeparator] = ["base64_signer_key", "base64_salt_separator"].map((name) => {
    try {
      return fromBase64(member(name));
    } catch (error) {
      throw error instanceof UnusableFile
        ? error
        : new UnusableFile(`the hash configuration's ${name} is not base64`);
    }
  });
  if (!signerKey || !saltSeparator || signerKey.length < MIN_SIGNER_BYTES)
    throw new UnusableFile("the hash configuration's base64_signer_key is too short");
  return { signerKey, saltSeparator, rounds: whole("rounds"), memCost: whole("mem_cost") };
}

/** @throws UnusableFile */
export function readFirebase(text: string, hashing: FirebaseHashing | undefined): Entry[] {
  const document = parseDocument(text);
  const users = isMembers(document) ? document.users : undefined;
  if (!Array.isArray(users))
    throw new UnusableFile(
      "the file has no users: write it with `firebase auth:export users.json --format=json`",
    );
  return users.map((user: unknown, at) => ({ line: at + 1, read: () => readUser(user, hashing) }));
}

const taken = ["email", "emailVerified", "displayName", "disabled", "passwordHash", "salt"];

function readUser(value: unknown, hashing: FirebaseHashing | undefined): MovedUser | undefined {
  const user = requireMembers(value);
  const providers = Array.isArray(user.providerUserInfo) ? user.providerUserInfo : [];
  const email = textOf(user, "email");
  // Anonymous accounts are of browsers, not of people.
  if (email === "" && textOf(user, "phoneNumber") === "" && providers.length === 0) return undefined;
  return {
    email,
    ...splitName(textOf(user, "displayName")),
    emailVerified: flagOf(user, "emailVerified"),
    disabled: flagOf(user, "disabled"),
    passwordHash: readHash(textOf(user, "passwordHash"), textOf(user, "salt"), hashing),
    ignored: ignoredOf(user, taken),
  };
}

function readHash(hash: string, salt: string, hashing: FirebaseHashing | undefined): string | null {
  if (hash === "") return null;
  if (!hashing)
    throw new UnusableEntry("the user has a password hash: add --hash-config with the project's parameters");
  const { signerKey, saltSeparator, rounds: r, memCost: ln } = hashing;
  const whole = Buffer.concat([fromBase64(salt), saltSeparator]);
  return foreignHashText(firebaseHash(fromBase64(hash), signerKey, { ln, r, salt: whole }));
}
