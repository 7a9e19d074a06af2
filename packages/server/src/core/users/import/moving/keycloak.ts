/** A realm export of Keycloak: `users[].credentials[]`, whose secretData and credentialData are JSON in texts. */
import {
  boundedArgon2,
  boundedPbkdf2,
  type ForeignHash,
  foreignHashText,
  fromBase64,
  UnusableHash,
} from "../../../passwords/foreign-hashes.ts";
import {
  type Entry,
  flagOf,
  ignoredOf,
  isMembers,
  type MovedUser,
  numberOf,
  parseDocument,
  parseEntry,
  requireMembers,
  textOf,
  UnusableEntry,
  UnusableFile,
} from "./moved-user.ts";

/** Of a realm, or of the `…-users-0.json` beside it. @throws UnusableFile */
export function readKeycloak(text: string): Entry[] {
  const document = parseDocument(text);
  const users = isMembers(document) ? document.users : undefined;
  if (!Array.isArray(users))
    throw new UnusableFile(
      "the file is no realm export with users: export it with `kc.sh export --users realm_file`",
    );
  return users.map((user: unknown, at) => ({ line: at + 1, read: () => readUser(user) }));
}

const taken = ["email", "firstName", "lastName", "emailVerified", "enabled", "credentials"];

function readUser(value: unknown): MovedUser | undefined {
  const user = requireMembers(value);
  // The account of a client with a service account: system accounts take its place.
  if (textOf(user, "serviceAccountClientId") !== "") return undefined;
  const credentials = (Array.isArray(user.credentials) ? user.credentials : []).map((one) =>
    requireMembers(one, "a credential"),
  );
  const password = credentials.find(({ type }) => type === "password");
  const others = credentials.filter((one) => one !== password).map(({ type }) => `credentials (${type})`);
  const username = textOf(user, "username");
  return {
    // Realms whose users sign in with the address may have it here alone.
    email: textOf(user, "email") || (username.includes("@") ? username : ""),
    firstname: textOf(user, "firstName"),
    surname: textOf(user, "lastName"),
    emailVerified: flagOf(user, "emailVerified"),
    disabled: user.enabled === false,
    passwordHash: password ? foreignHashText(readPassword(password)) : null,
    ignored: [...ignoredOf(user, taken), ...others],
  };
}

function readPassword(credential: Readonly<Record<string, unknown>>): ForeignHash {
  if (credential.value !== undefined)
    throw new UnusableEntry("the password is in clear: an export of Keycloak has hashes");
  const data = requireMembers(parseEntry(textOf(credential, "credentialData"), "credentialData"));
  const secret = requireMembers(parseEntry(textOf(credential, "secretData"), "secretData"));
  const [hash, salt] = [fromBase64(textOf(secret, "value")), fromBase64(textOf(secret, "salt"))];
  const iterations = numberOf(data, "hashIterations");
  const algorithm = textOf(data, "algorithm");
  if (algorithm === "argon2") return readArgon2(data, { t: iterations, salt, hash });
  const [, digest = "sha1"] = /^pbkdf2(?:-(sha\d+))?$/.exec(algorithm) ?? [];
  if (!algorithm.startsWith("pbkdf2"))
    throw new UnusableHash(`the password's algorithm "${algorithm.slice(0, 40)}" is not supported`);
  return boundedPbkdf2(digest, iterations, salt, hash);
}

const versions: Readonly<Record<string, number>> = { "1.0": 16, "1.3": 19 };

function readArgon2(
  { additionalParameters }: Readonly<Record<string, unknown>>,
  given: { readonly t: number; readonly salt: Buffer; readonly hash: Buffer },
): ForeignHash {
  const parameters = requireMembers(additionalParameters, "additionalParameters");
  // Each is a list of one text.
  const parameter = (name: string): string => String([parameters[name]].flat()[0] ?? "");
  const type = parameter("type");
  if (type !== "id" && type !== "i" && type !== "d") throw new UnusableHash("argon2 has an unknown type");
  return boundedArgon2({
    ...{ kind: "argon2", type, version: versions[parameter("version")] ?? 0 },
    ...{ m: Number(parameter("memory")), p: Number(parameter("parallelism")) },
    ...given,
  });
}
