/** Ten codes for the day when no other factor is at hand. Each works once; only their hashes are kept. */
import { randomBytes } from "node:crypto";
import { sha256Base64url } from "@signet/protocol/hash";
import type { Db } from "../../../db/open.ts";
import type { FactorOwner } from "../second-factor.ts";
import { replaceRecoveryCodes } from "./recovery-codes.store.ts";

export const RECOVERY_CODE_COUNT = 10;

/** Crockford's base32: no letter that is mistaken for a digit. */
const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";
/** 80 bits: too many to be found from the hash. */
const LENGTH = 16;

/** As it is shown and typed: four groups of four. */
function newRecoveryCode(): string {
  const characters = Array.from(randomBytes(LENGTH), (byte) => ALPHABET[byte % ALPHABET.length]);
  return characters.join("").replace(/(.{4})(?=.)/g, "$1-");
}

/** What people type, with or without the dashes. Undefined for what cannot be one. */
export function readRecoveryCode(typed: string): string | undefined {
  const code = typed.toLowerCase().replaceAll(/[\s-]/g, "").replaceAll("o", "0").replaceAll(/[il]/g, "1");
  return code.length === LENGTH && [...code].every((character) => ALPHABET.includes(character))
    ? code
    : undefined;
}

/** @param code as `readRecoveryCode` gives it */
export const hashRecoveryCode = (code: string): string => sha256Base64url(code);

/** Takes the place of the codes that were there. @returns the plaintexts, to be shown this once */
export async function makeRecoveryCodes(tx: Db, owner: FactorOwner, now: number): Promise<string[]> {
  const codes = Array.from({ length: RECOVERY_CODE_COUNT }, newRecoveryCode);
  const hashes = codes.map((code) => hashRecoveryCode(code.replaceAll("-", "")));
  await replaceRecoveryCodes(tx, owner, hashes, now);
  return codes;
}
