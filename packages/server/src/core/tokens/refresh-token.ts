/**
 * The refresh token's form: `sgn_rt_` and base64url of family (16 bytes), secret (32) and a check value (8).
 *
 * The family says which record to look up. The secret is 256 random bits; the database has the SHA-256 of the whole
 * token only. A successor's secret is derived from the token that is exchanged for it, so that a client whose answer
 * was lost gets the same successor again and nothing readable is kept. The check value proves that an unknown token was
 * once ours: only then is it a replay that ends the family, and knowing a family's identifier ends nobody's session.
 */
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { uuidOfBytes } from "./claims.ts";

const PREFIX = "sgn_rt_";
const FAMILY_BYTES = 16;
const SECRET_BYTES = 32;
const CHECK_BYTES = 8;
const ENCODED_LENGTH = Math.ceil(((FAMILY_BYTES + SECRET_BYTES + CHECK_BYTES) * 4) / 3);

export interface RefreshTokenKeys {
  /** Derived from the master key, for this purpose only. */
  readonly refreshTokenKey: Buffer;
}

export function firstRefreshToken(keys: RefreshTokenKeys, orgId: string, familyId: string): string {
  return compose(keys, orgId, familyId, randomBytes(SECRET_BYTES));
}

/** Always the same for the same presented token. */
export function successorOf(
  keys: RefreshTokenKeys,
  orgId: string,
  familyId: string,
  presented: string,
): string {
  const secret = mac(keys, `successor|${orgId}|${presented}`);
  return compose(keys, orgId, familyId, secret);
}

/** The family of a token that this service made for this organisation; undefined for anything else. */
export function familyOfRefreshToken(
  keys: RefreshTokenKeys,
  orgId: string,
  token: string,
): string | undefined {
  if (!token.startsWith(PREFIX) || token.length !== PREFIX.length + ENCODED_LENGTH) return undefined;
  const encoded = token.slice(PREFIX.length);
  const bytes = Buffer.from(encoded, "base64url");
  // One spelling only: what decodes to our bytes in another spelling is not our token.
  if (bytes.length !== FAMILY_BYTES + SECRET_BYTES + CHECK_BYTES || bytes.toString("base64url") !== encoded)
    return undefined;
  const body = bytes.subarray(0, FAMILY_BYTES + SECRET_BYTES);
  if (!timingSafeEqual(checkValue(keys, orgId, body), bytes.subarray(FAMILY_BYTES + SECRET_BYTES)))
    return undefined;
  return uuidOfBytes(bytes.subarray(0, FAMILY_BYTES));
}

function compose(keys: RefreshTokenKeys, orgId: string, familyId: string, secret: Buffer): string {
  const body = Buffer.concat([Buffer.from(familyId.replaceAll("-", ""), "hex"), secret]);
  return PREFIX + Buffer.concat([body, checkValue(keys, orgId, body)]).toString("base64url");
}

function checkValue(keys: RefreshTokenKeys, orgId: string, body: Buffer): Buffer {
  return mac(keys, `check|${orgId}|${body.toString("base64url")}`).subarray(0, CHECK_BYTES);
}

const mac = (keys: RefreshTokenKeys, text: string): Buffer =>
  createHmac("sha256", keys.refreshTokenKey).update(text).digest();
