/**
 * An unsigned request object (OpenID Connect Core §6.1). They are not supported, but the refusal goes where the client
 * listens: by the `response_mode` in the object, if none stands beside it. Nothing else is read from it.
 */

const MAX_LETTERS = 16_384;

/** @returns undefined for every other text, a signed object included */
export function unsignedResponseMode(object: string | undefined): string | undefined {
  if (object === undefined || object.length > MAX_LETTERS) return undefined;
  const [header = "", payload = "", signature, ...more] = object.split(".");
  if (signature !== "" || more.length > 0 || readMember(header, "alg") !== "none") return undefined;
  const mode = readMember(payload, "response_mode");
  return typeof mode === "string" ? mode : undefined;
}

function readMember(part: string, name: string): unknown {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, "base64url").toString());
    const isObject = typeof value === "object" && value !== null && Object.hasOwn(value, name);
    return isObject ? (value as Readonly<Record<string, unknown>>)[name] : undefined;
  } catch {
    return undefined;
  }
}
