/**
 * Checks a TOTP or recovery code. The attempt is counted before the check, so that concurrent guesses all count, and given
 * back when the sign-in completes.
 */
import type { Db } from "../../db/open.ts";
import { recordOnce } from "../audit/unauthenticated-events.ts";
import type { CoreDeps } from "../core-deps.ts";
import type { Encryption } from "../encryption/encryption.ts";
import {
  type Attempt,
  countAttempt,
  networkPrefix,
  RateLimited,
  type RateLimits,
} from "../rate-limits/rate-limits.ts";
import type { User } from "../users/user.ts";
import { factorOwner } from "./factor-status.ts";
import { hashRecoveryCode, readRecoveryCode } from "./recovery-codes/recovery-codes.ts";
import { codeAmr, type FactorProof, methodAcr } from "./second-factor.ts";
import { consumeRecoveryCode } from "./second-factors.store.ts";
import { checkTotp, readTotpCode } from "./totp/totp.ts";

export interface CodeCheckDeps extends CoreDeps {
  readonly encryption: Encryption;
  readonly rateLimits: RateLimits;
}

export interface CodeInput {
  /** The organisation of the sign-in. */
  readonly orgId: string;
  readonly user: User;
  readonly method: "totp" | "recovery";
  readonly input: string;
  readonly address: string;
}

/** @returns undefined for a wrong code. @throws RateLimited */
export async function checkCode(deps: CodeCheckDeps, code: CodeInput): Promise<FactorProof | undefined> {
  const { user, method, input } = code;
  const attempts = await countAttempts(deps, code).catch(async (error: unknown) => {
    if (error instanceof RateLimited) await recordRateLimited(deps, code, error);
    throw error;
  });
  const owner = factorOwner(user);
  const now = deps.clock();
  const read = method === "totp" ? readTotpCode(input) : readRecoveryCode(input);
  if (read === undefined) return undefined;
  const take =
    method === "totp"
      ? await checkTotp(deps, deps.database.query, owner, { code: read, now })
      : (tx: Db) => consumeRecoveryCode(tx, owner, { hash: hashRecoveryCode(read), now });
  if (!take) return undefined;
  return {
    method,
    amr: codeAmr[method],
    acr: methodAcr[method],
    use: async (tx) => ((await take(tx)) ? [] : undefined),
    accepted: async () => {
      for (const attempt of attempts) await attempt.giveBack();
    },
  };
}

/** Attempts on an account count in its home organisation: roaming adds none. */
async function countAttempts(deps: CodeCheckDeps, { orgId, user, address }: CodeInput): Promise<Attempt[]> {
  const { "second-factor-account": ofAccount, "second-factor-address": ofAddress } = deps.rateLimits;
  return [
    await countAttempt(deps, orgId, [{ limit: ofAddress, subject: networkPrefix(address) }]),
    await countAttempt(deps, user.homeOrgId, [{ limit: ofAccount, subject: user.id }]),
  ];
}

/** Audited once per window. */
const recordRateLimited = (
  deps: CodeCheckDeps,
  { orgId, user, address }: CodeInput,
  { limit: { name, windowSeconds } }: RateLimited,
): Promise<void> =>
  recordOnce(deps, { orgId, subject: `${name}|${user.id}`, everyMs: windowSeconds * 1000 }, () => ({
    actor: `user:${user.id}`,
    action: "second-factor.limited",
    target: user.id,
    address,
    details: { limit: name },
  }));
