/** A secret of ours, by the prefix that names its kind (wire-contract.md §1), also with its characters escaped for an address. */
const secret = /sgn(?:_|%5f)[a-z]{2}(?:_|%5f)[A-Za-z0-9_%-]+/gi;

/**
 * The text as it may be logged: what looks like a secret of ours is left out, its kind stays. Logs are written without
 * secrets in the first place; this is the net under texts that others made, such as the messages of thrown errors.
 */
export const redactSecrets = (text: string): string =>
  text.replace(secret, (found) => `${found.slice(0, 6).toLowerCase()}_[redacted]`);
