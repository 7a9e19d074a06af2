/** A secret of ours, by the prefix that names its kind (wire-contract.md §1), also with its characters escaped for an address. */
const secret = /sgn(?:_|%5f)[a-z]{2}(?:_|%5f)[A-Za-z0-9_%-]+/gi;

/** The text without what looks like a secret of ours: a safety net for messages of others, e.g. of thrown errors. */
export const redactSecrets = (text: string): string =>
  text.replace(secret, (found) => `${found.slice(0, 6).toLowerCase()}_[redacted]`);
