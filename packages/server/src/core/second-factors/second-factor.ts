/**
 * Second factors: an authenticator app (TOTP), passkeys, and recovery codes as a fallback. They belong to the account and
 * its home organisation; trusted browsers belong to the organisation of the sign-in.
 */
import type { Db } from "../../db/open.ts";
import type { SecondFactorMethod } from "../organisations/sign-in-methods.ts";
import { type Assurance, acrValues, assurance, type Session, toAssurance } from "../sessions/session.ts";
import type { PasskeyUse } from "./passkeys/passkeys.ts";

export interface FactorOwner {
  readonly homeOrgId: string;
  readonly userId: string;
}

export interface FactorSummary {
  readonly hasTotp: boolean;
  readonly passkeys: number;
  /** Unused ones. They are a fallback, and don't count as a factor; see `mustVerifyFactor`. */
  readonly recoveryCodes: number;
}

/** What decides whether this user needs a second factor in this browser. */
export interface FactorStatus extends FactorSummary {
  readonly isTrusted: boolean;
  readonly isRequired: boolean;
  /** The organisation of the sign-in takes no password: every sign-in needs a passkey. */
  readonly requiresPasskey: boolean;
  /** By the organisation of the sign-in. */
  readonly offered: readonly SecondFactorMethod[];
  /** Only in the home organisation. */
  readonly mayEnrol: boolean;
  /** The organisation lets nobody on without a passkey, and the user has none. */
  readonly mustAddPasskey?: boolean;
}

/**
 * The assurance that every sign-in must reach: a second factor of users who have or need one, unless the browser is trusted.
 * Users with nothing that is still offered add a passkey, where one is.
 */
export function defaultAssurance(factors: FactorStatus): Assurance {
  if (factors.requiresPasskey) return assurance.phishingResistant;
  if (!mustVerifyFactor(factors)) return factors.isRequired ? assurance.multiFactor : assurance.none;
  if (factors.isTrusted) return assurance.none;
  return hasWithdrawnFactorOnly(factors) ? assurance.phishingResistant : assurance.multiFactor;
}

/** Whoever comes from an identity provider has no credential here that a passkey would take the place of. */
export const mustAddPasskey = (
  { mustAddPasskey: asked = false }: FactorStatus,
  { amr }: Pick<Session, "amr">,
): boolean => asked && !amr.includes("fed");

const hasWithdrawnFactorOnly = ({ offered, hasTotp, passkeys }: FactorStatus): boolean =>
  hasTotp && passkeys === 0 && !offered.includes("totp") && offered.includes("passkey");

/** Whether the user may add, here, a factor that reaches this assurance. */
export const mayEnrolFor = ({ mayEnrol, offered }: FactorStatus, level: Assurance): boolean =>
  mayEnrol && (level === assurance.phishingResistant ? offered.includes("passkey") : offered.length > 0);

/** What of a user's factors signs in here: those that are offered, or all when none of them is. */
export function acceptedFactors<Factors extends FactorSummary & Pick<FactorStatus, "offered">>(
  factors: Factors,
): Factors {
  const hasTotp = factors.hasTotp && factors.offered.includes("totp");
  const passkeys = factors.offered.includes("passkey") ? factors.passkeys : 0;
  return hasTotp || passkeys > 0 ? { ...factors, hasTotp, passkeys } : factors;
}

export const hasSecondFactor = ({ hasTotp, passkeys }: FactorSummary): boolean => hasTotp || passkeys > 0;

/**
 * Whether a password isn't enough. Recovery codes without a factor are left when a password reset ended the passkeys: the
 * mailbox alone must not sign in to an account that had a second factor.
 */
export const mustVerifyFactor = (factors: FactorSummary): boolean =>
  hasSecondFactor(factors) || factors.recoveryCodes > 0;

/** A verified second factor: what it adds to a sign-in, and its single use. */
export interface FactorProof {
  readonly method: "passkey" | "totp" | "recovery";
  /** RFC 8176 values to add to the sign-in's. */
  readonly amr: readonly string[];
  readonly acr: string;
  /**
   * Consumes the proof, in the transaction that starts the session.
   * @returns new recovery codes to show, usually none; undefined when the proof was used before
   */
  use(tx: Db): Promise<readonly string[] | undefined>;
}

/** RFC 8176: proof of possession of a hardware or software key, and user presence. */
export const passkeyAmr = ({ isDeviceBound }: PasskeyUse): string[] => [
  isDeviceBound ? "hwk" : "swk",
  "user",
  "mfa",
];

/** RFC 8176 has no value for recovery codes. */
export const codeAmr = { totp: ["otp", "mfa"], recovery: ["mfa"] } as const;

export const methodAcr = {
  passkey: acrValues.phishingResistant,
  totp: acrValues.multiFactor,
  recovery: acrValues.multiFactor,
} as const;

/** The amr and acr of a sign-in with one more factor. */
export function raiseAssurance(
  session: Pick<Session, "amr" | "acr">,
  proof: Pick<FactorProof, "amr" | "acr">,
): Pick<Session, "amr" | "acr"> {
  return {
    amr: [...new Set([...session.amr, ...proof.amr])],
    acr: toAssurance(proof.acr) > toAssurance(session.acr) ? proof.acr : session.acr,
  };
}
