/**
 * What may be a password: length and a blocklist, no composition rules (NIST SP 800-63B-4 §3.1.1.2).
 */
const MAX_LENGTH = 256;

export interface PasswordPolicy {
  readonly minLength: number;
  /** What the user is known by (address, names): no password may be made of it. */
  readonly about: readonly string[];
}

/** @returns a sentence that says why the password is refused, or undefined when it is fine */
export async function refusePassword(password: string, policy: PasswordPolicy): Promise<string | undefined> {
  const normalised = password.normalize("NFKC");
  const length = [...normalised].length;
  if (length < policy.minLength) return `the password must have at least ${policy.minLength} characters`;
  if (length > MAX_LENGTH) return `the password must have at most ${MAX_LENGTH} characters`;
  const folded = normalised.toLowerCase();
  if (/^(.{1,4})\1+.{0,3}$/u.test(folded)) return "the password repeats one pattern";
  if (isSequence(folded)) return "the password is a plain sequence";
  if (await isCommon(folded)) return "the password is one of the most common ones";
  for (const word of policy.about.flatMap(namesIn)) {
    if (folded.replace(word, "").length < 6) return "the password is made of your name or address";
  }
  return undefined;
}

const namesIn = (about: string): string[] =>
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

/** The list, and what people make of it to reach a length: one of its words with digits or signs behind. */
async function isCommon(password: string): Promise<boolean> {
  // Loaded at the first new password: a process that sets none does not carry the list.
  common ??= import("@zxcvbn-ts/language-common").then(
    ({ dictionary }) =>
      new Set((dictionary["passwords-common"] as readonly string[]).filter(({ length }) => length >= 6)),
  );
  const list = await common;
  if (list.has(password)) return true;
  const stem = password.replace(/[\d\W_]+$/u, "");
  return password.length - stem.length <= 4 && list.has(stem);
}
