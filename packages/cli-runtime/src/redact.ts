/** Errors as text without secrets. Nothing logs a secret on purpose; other programs' error messages may quote one. */
import { redactSecrets } from "@signet/protocol/redact-secrets";

const REDACTED = "[redacted]";

const patterns: ReadonlyArray<readonly [pattern: RegExp, replacement: string]> = [
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g, REDACTED],
  // A JWS or a JWE in compact form.
  [/\beyJ[\w-]+\.[\w-]*(?:\.[\w-]*){1,3}/g, REDACTED],
  [/\b(Bearer|Basic)(\s+)[\w.~+/=-]+/gi, `$1$2${REDACTED}`],
  // Credentials in a URL, and PKCS#11 URIs (RFC 7512 §2.4).
  [/(:\/\/)[^\s/?#@]+@/g, `$1${REDACTED}@`],
  [
    /\b((?:api[_-]?key|key|code|pin|pin-value|secret|token|password|\w+_(?:token|secret|code))(?:=|%3d))[^&;\s"'<>]+/gi,
    `$1${REDACTED}`,
  ],
  // Enrolment codes: five groups of five characters of Crockford's base32 (device-identity.md §1).
  [/\b[0-9A-HJKMNP-TV-Z]{5}(?:-[0-9A-HJKMNP-TV-Z]{5}){4}\b/gi, REDACTED],
];

/** Shorter ones would blank out ordinary words. */
const MIN_SECRET_LENGTH = 4;
const ownSecrets = new Set<string>();

/** Has `redact` remove this value wherever it stands alone: for secrets with no form of their own, such as a PIN. */
export function rememberSecret(secret: string): string {
  if (secret.length >= MIN_SECRET_LENGTH) ownSecrets.add(secret);
  return secret;
}

export function redact(text: string): string {
  let safe = redactSecrets(text);
  for (const [pattern, replacement] of patterns) safe = safe.replace(pattern, replacement);
  for (const secret of ownSecrets)
    safe = safe.replace(new RegExp(`(?<![\\w-])${RegExp.escape(secret)}(?![\\w-])`, "g"), REDACTED);
  return safe;
}

/** The message of an error and of its cause, redacted. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return redact(String(error));
  const message = error.message.trim();
  const cause = error.cause instanceof Error ? error.cause.message.trim() : "";
  return redact(cause === "" || message.includes(cause) ? message : `${message}: ${cause}`);
}
