/**
 * Second factors: an authenticator app (TOTP), passkeys, and recovery codes as a fallback. They belong to the account and
 * its home organisation; trusted browsers belong to the organisation of the sign-in.
 */
import { type Assurance, assurance } from "../sessions/assurance.ts";

export interface FactorOwner {
  readonly homeOrgId: string;
  readonly userId: string;
}

export interface FactorSummary {
  readonly hasTotp: boolean;
  readonly passkeys: number;
  /** Unused ones. They are a fallback, and don't count as a factor. */
  readonly recoveryCodes: number;
}

/** What decides whether this user needs a second factor in this browser. */
export interface FactorStatus extends FactorSummary {
  readonly isTrusted: boolean;
  readonly isRequired: boolean;
  /** Only in the home organisation. */
  readonly mayEnrol: boolean;
}

/** The assurance that every sign-in must reach: a second factor of users who have or need one, unless the browser is trusted. */
export function defaultAssurance(factors: FactorStatus): Assurance {
  if (!hasSecondFactor(factors)) return factors.isRequired ? assurance.multiFactor : assurance.none;
  return factors.isTrusted ? assurance.none : assurance.multiFactor;
}

export const hasSecondFactor = ({ hasTotp, passkeys }: FactorSummary): boolean => hasTotp || passkeys > 0;
