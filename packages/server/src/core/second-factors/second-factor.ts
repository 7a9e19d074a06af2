/**
 * What a user proves themselves with besides the password: an authenticator app (TOTP), passkeys, and recovery codes for
 * the day when neither is at hand. They belong to the account, and so to its home organisation; the browsers that are
 * remembered belong to the organisation where somebody signed in.
 */
import { type Assurance, assurance } from "../sessions/assurance.ts";

/** Whose factors they are: the user and the organisation that owns the account. */
export interface FactorOwner {
  readonly homeOrgId: string;
  readonly userId: string;
}

export interface FactorSummary {
  readonly hasTotp: boolean;
  readonly passkeys: number;
  /** Unused ones. They stand in for a factor and are none themselves. */
  readonly recoveryCodes: number;
}

/** All that decides whether a second factor is asked of this user in this browser. */
export interface FactorStanding extends FactorSummary {
  /** A second factor was shown here before, and the browser is still remembered for it. */
  readonly isRemembered: boolean;
  /** The organisation wants everybody to have one. */
  readonly isRequired: boolean;
  /** Only the home organisation changes an account. */
  readonly mayEnrol: boolean;
}

/**
 * What a sign-in must reach without anybody's special demand: users who have a second factor, or must have one, show it on
 * browsers that are not remembered.
 */
export function usualAssurance(factors: FactorStanding): Assurance {
  if (!hasSecondFactor(factors)) return factors.isRequired ? assurance.multiFactor : assurance.none;
  return factors.isRemembered ? assurance.none : assurance.multiFactor;
}

export const hasSecondFactor = ({ hasTotp, passkeys }: FactorSummary): boolean => hasTotp || passkeys > 0;
