/**
 * Checks a TOTP or recovery code. Only wrong ones count: for the account first, so that what it refuses counts for nobody
 * else on its network.
 */
import type { Db } from "../../db/open.ts";
import { recordOnce } from "../audit/unauthenticated-events.ts";
import type { Encryption } from "../encryption/encryption.ts";
import { type CountedGuess, checkGuess, type GuessDeps } from "../rate-limits/attempts.ts";
import type { GuessSource } from "../rate-limits/guess-source.ts";
import { RateLimited, type RateLimits } from "../rate-limits/rate-limits.ts";
import type { User } from "../users/user.ts";
import { factorOwner } from "./factor-status.ts";
import { hashRecoveryCode, readRecoveryCode } from "./recovery-codes/recovery-codes.ts";
import { codeAmr, type FactorProof, methodAcr } from "./second-factor.ts";
import { consumeRecoveryCode, isUnusedRecoveryCode } from "./second-factors.store.ts";
import { checkTotp, readTotpCode } from "./totp/totp.ts";

export interface CodeCheckDeps extends GuessDeps {
  readonly encryption: Encryption;
  readonly rateLimits: RateLimits;
}

export interface CodeInput {
  /** The organisation of the sign-in. */
  readonly orgId: string;
  readonly user: User;
  readonly method: "totp" | "recovery";
  readonly input: string;
  readonly source: GuessSource;
}

/** @returns undefined for a wrong code. @throws RateLimited */
export async function checkCode(deps: CodeCheckDeps, code: CodeInput): Promise<FactorProof | undefined> {
  const { orgId, method } = code;
  const take = await checkGuess(
    deps,
    orgId,
    countedBy(deps.rateLimits, code),
    () => findUse(deps, code),
    (found) => found !== undefined,
  ).catch(async (error: unknown) => {
    if (error instanceof RateLimited && !error.isTemporary) await recordRateLimited(deps, code, error);
    throw error;
  });
  if (!take) return undefined;
  return {
    method,
    amr: codeAmr[method],
    acr: methodAcr[method],
    use: async (tx) => ((await take(tx)) ? [] : undefined),
  };
}

/** @returns consumes the code, false if it was used meanwhile; undefined for a wrong one */
async function findUse(
  deps: CodeCheckDeps,
  { user, method, input }: CodeInput,
): Promise<((tx: Db) => Promise<boolean>) | undefined> {
  const owner = factorOwner(user);
  const now = deps.clock();
  const db = deps.database.query;
  if (method === "totp") {
    const code = readTotpCode(input);
    return code === undefined ? undefined : checkTotp(deps, db, owner, { code, now });
  }
  const code = readRecoveryCode(input);
  if (code === undefined) return undefined;
  const hash = hashRecoveryCode(code);
  if (!(await isUnusedRecoveryCode(db, owner, hash))) return undefined;
  return (tx) => consumeRecoveryCode(tx, owner, { hash, now });
}

/**
 * Attempts on an account count in its home organisation: roaming adds none. A success forgets none: whoever has the password
 * could go on guessing after each sign-in of the owner.
 */
function countedBy(
  limits: RateLimits,
  { user, source: { network, applicationId } }: CodeInput,
): CountedGuess[] {
  return [
    { limit: limits["second-factor-account"], subject: user.id, orgId: user.homeOrgId },
    ...(network === undefined ? [] : [{ limit: limits["second-factor-address"], subject: network }]),
    ...(applicationId === undefined
      ? []
      : [{ limit: limits["second-factor-application"], subject: applicationId }]),
  ];
}

/** Audited once per window. */
const recordRateLimited = (
  deps: CodeCheckDeps,
  { orgId, user, source: { address } }: CodeInput,
  { limit: { name, windowSeconds } }: RateLimited,
): Promise<void> =>
  recordOnce(deps, { orgId, subject: `${name}|${user.id}`, everyMs: windowSeconds * 1000 }, () => ({
    actor: `user:${user.id}`,
    action: "second-factor.limited",
    target: user.id,
    address,
    details: { limit: name },
  }));
