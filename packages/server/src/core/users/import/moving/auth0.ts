/**
 * Users of Auth0: the export of password hashes that its support makes (a JSON object on each line, bcrypt in `passwordHash`), or
 * the form of its bulk import (`password_hash`, `custom_password_hash`), as lines or as one list.
 */
import {
  boundedScrypt,
  type ForeignHash,
  foreignHashText,
  fromBase64,
  readForeignHash,
  UnusableHash,
} from "../../../passwords/foreign-hashes.ts";
import {
  type Entry,
  flagOf,
  ignoredOf,
  linesOf,
  type MovedUser,
  numberOf,
  parseDocument,
  parseEntry,
  requireMembers,
  splitName,
  textOf,
  UnusableFile,
} from "./moved-user.ts";

/** @throws UnusableFile */
export function readAuth0(text: string): Entry[] {
  if (!text.trimStart().startsWith("["))
    return linesOf(text).map((one) => ({ line: one.line, read: () => readUser(parseEntry(one.text)) }));
  const users = parseDocument(text);
  if (!Array.isArray(users)) throw new UnusableFile("the file is no list of users");
  return users.map((user: unknown, at) => ({ line: at + 1, read: () => readUser(user) }));
}

const names = ["given_name", "family_name", "name"];
const taken = [
  "email",
  "email_verified",
  "blocked",
  "passwordHash",
  "password_hash",
  "custom_password_hash",
  ...names,
];

function readUser(value: unknown): MovedUser {
  const user = requireMembers(value);
  const [firstname, surname] = [textOf(user, "given_name"), textOf(user, "family_name")];
  const hash = readHash(user);
  return {
    email: textOf(user, "email"),
    ...(firstname === "" && surname === "" ? splitName(textOf(user, "name")) : { firstname, surname }),
    emailVerified: flagOf(user, "email_verified"),
    disabled: flagOf(user, "blocked"),
    passwordHash: hash ? foreignHashText(hash) : null,
    ignored: ignoredOf(user, taken),
  };
}

function readHash(user: Readonly<Record<string, unknown>>): ForeignHash | undefined {
  const own = textOf(user, "passwordHash", "password_hash");
  const custom = user.custom_password_hash ?? null;
  if (custom === null) return own === "" ? undefined : readForeignHash(own);
  if (own !== "") throw new UnusableHash("the user has a password_hash and a custom_password_hash");
  return readCustomHash(requireMembers(custom, "custom_password_hash"));
}

function readCustomHash(custom: Readonly<Record<string, unknown>>): ForeignHash {
  const algorithm = textOf(custom, "algorithm");
  const hash = requireMembers(custom.hash, "custom_password_hash.hash");
  const { encoding = "utf8" } = requireMembers(custom.password ?? {}, "custom_password_hash.password");
  if (encoding !== "utf8")
    throw new UnusableHash("custom_password_hash has passwords in another encoding than UTF-8");
  if (["bcrypt", "argon2", "pbkdf2"].includes(algorithm)) return readForeignHash(textOf(hash, "value"));
  if (algorithm !== "scrypt")
    throw new UnusableHash(
      `custom_password_hash has "${algorithm.slice(0, 40)}": bcrypt, argon2, scrypt and pbkdf2 are taken over`,
    );
  const salt = requireMembers(custom.salt, "custom_password_hash.salt");
  const ln = Math.log2(numberOf(custom, "cost", 16_384));
  if (!Number.isInteger(ln)) throw new UnusableHash("scrypt's parameters are not possible");
  const bytes = decode(hash);
  if (bytes.length !== numberOf(custom, "keylen", bytes.length))
    throw new UnusableHash("custom_password_hash.keylen is not the length of the hash");
  return boundedScrypt({
    ...{ kind: "scrypt", ln, r: numberOf(custom, "blockSize", 8), p: numberOf(custom, "parallelization", 1) },
    ...{ salt: decode(salt), hash: bytes },
  });
}

function decode(members: Readonly<Record<string, unknown>>): Buffer {
  const value = textOf(members, "value");
  const encoding = textOf(members, "encoding");
  if (encoding === "hex" && /^([0-9a-f]{2})*$/i.test(value)) return Buffer.from(value, "hex");
  if (encoding === "base64") return fromBase64(value);
  if (encoding === "utf8" || encoding === "") return Buffer.from(value);
  throw new UnusableHash(`custom_password_hash has a value that is not ${encoding.slice(0, 40)}`);
}
