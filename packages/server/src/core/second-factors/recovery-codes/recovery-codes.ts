/** Recovery codes: ten single-use codes, stored as hashes. */
import { randomBytes } from "node:crypto";
import { sha256Base64url } from "@signet/protocol/hash";
import type { Db } from "../../../db/open.ts";
import type { FactorOwner } from "../second-factor.ts";
import { replaceRecoveryCodes } from "../second-factors.store.ts";

export const RECOVERY_CODES = 10;

/** Crockford's base32: no letter that looks like a digit. */
const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";
/** 80 bits: infeasible to recover from the hash. */
const LENGTH = 16;

/** Four groups of four characters. */
function newRecoveryCode(): string {
  const characters = Array.from(randomBytes(LENGTH), (byte) => ALPHABET[byte % ALPHABET.length]);
  return characters.join("").replace(/(.{4})(?=.)/g, "$1-");
}

/** Accepts any case, with or without dashes. Undefined for anything that isn't a code. */
export function readRecoveryCode(input: string): string | undefined {
  const code = input.toLowerCase().replaceAll(/[\s-]/g, "").replaceAll("o", "0").replaceAll(/[il]/g, "1");
  return code.length === LENGTH && [...code].every((character) => ALPHABET.includes(character))
    ? code
    : undefined;
}

/** @param code from `readRecoveryCode` */
export const hashRecoveryCode = (code: string): string => sha256Base64url(code);

/** Replaces all codes. @returns the plaintexts, to be shown once */
export async function createRecoveryCodes(tx: Db, owner: FactorOwner, now: number): Promise<string[]> {
  const codes = Array.from({ length: RECOVERY_CODES }, newRecoveryCode);
  const hashes = codes.map((code) => hashRecoveryCode(code.replaceAll("-", "")));
  await replaceRecoveryCodes(tx, owner, hashes, now);
  return codes;
}

/** In place of used-up codes: a password isn't enough, and an administrator has to help. */
export const createUnknownRecoveryCode = (tx: Db, owner: FactorOwner, madeAt: number): Promise<void> =>
  replaceRecoveryCodes(tx, owner, [hashRecoveryCode(newRecoveryCode().replaceAll("-", ""))], madeAt);
