/** The password policy: length and a blocklist, no composition rules (NIST SP 800-63B-4 §3.1.1.2). */
export const PASSWORD_MAX_LENGTH = 256;

export interface PasswordPolicy {
  readonly minLength: number;
  /** The user's address and names, which a password must not consist of. */
  readonly about: readonly string[];
}

export type PasswordFault =
  | "too-short"
  | "too-long"
  | "repeats-pattern"
  | "is-sequence"
  | "is-common"
  | "is-about-user";

/** @returns undefined for an acceptable password */
export async function passwordFault(
  password: string,
  policy: PasswordPolicy,
): Promise<PasswordFault | undefined> {
  const normalised = password.normalize("NFKC");
  const length = [...normalised].length;
  if (length < policy.minLength) return "too-short";
  if (length > PASSWORD_MAX_LENGTH) return "too-long";
  const folded = normalised.toLowerCase();
  if (/^(.{1,4})\1+.{0,3}$/u.test(folded)) return "repeats-pattern";
  if (isSequence(folded)) return "is-sequence";
  if (await isCommon(folded)) return "is-common";
  for (const word of policy.about.flatMap(words)) {
    if (folded.replace(word, "").length < 6) return "is-about-user";
  }
  return undefined;
}

/** @returns the message of `passwordFault` */
export async function passwordFaultMessage(
  password: string,
  policy: PasswordPolicy,
): Promise<string | undefined> {
  const fault = await passwordFault(password, policy);
  return fault && messages[fault](policy);
}

const messages: Readonly<Record<PasswordFault, (policy: PasswordPolicy) => string>> = {
  "too-short": ({ minLength }) => `the password must have at least ${minLength} characters`,
  "too-long": () => `the password must have at most ${PASSWORD_MAX_LENGTH} characters`,
  "repeats-pattern": () => "the password repeats a pattern",
  "is-sequence": () => "the password is a sequence",
  "is-common": () => "the password is too common",
  "is-about-user": () => "the password is based on your name or email address",
};

const words = (about: string): string[] =>
  about
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .concat(about.toLowerCase())
    .filter((word) => word.length >= 4);

function isSequence(password: string): boolean {
  const codes = [...password].map((character) => character.codePointAt(0) ?? 0);
  const steps = new Set(codes.slice(1).map((code, index) => code - (codes[index] ?? 0)));
  return steps.size === 1 && (steps.has(1) || steps.has(-1));
}

let common: Promise<ReadonlySet<string>> | undefined;

/** A word of the list, also with digits or symbols appended. */
async function isCommon(password: string): Promise<boolean> {
  // Loaded with the first new password, to save memory.
  common ??= import("@zxcvbn-ts/language-common").then(
    ({ dictionary }) =>
      new Set((dictionary["passwords-common"] as readonly string[]).filter(({ length }) => length >= 6)),
  );
  const list = await common;
  if (list.has(password)) return true;
  const stem = password.replace(/[\d\W_]+$/u, "");
  return password.length - stem.length <= 4 && list.has(stem);
}
