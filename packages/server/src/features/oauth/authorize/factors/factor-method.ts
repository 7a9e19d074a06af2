/** The methods that a user can verify or enrol as a second factor. */
import type { SecondFactorMethod } from "../../../../core/organisations/sign-in-methods.ts";
import {
  acceptedFactors,
  type FactorStatus,
  type FactorSummary,
} from "../../../../core/second-factors/second-factor.ts";
import { assurance } from "../../../../core/sessions/session.ts";
import type { FactorStep } from "../next-step.ts";

export type VerificationMethod = "passkey" | "totp" | "recovery";
export type EnrolmentMethod = "totp" | "passkey";

/** The user's methods that reach the required assurance and are accepted here, strongest first. */
export function verificationMethods(
  { required }: Pick<FactorStep, "required">,
  factors: FactorSummary & Pick<FactorStatus, "offered">,
): VerificationMethod[] {
  // An application that asks for a passkey gets one of those that the user has.
  if (required === assurance.phishingResistant) return factors.passkeys > 0 ? ["passkey"] : [];
  const accepted = acceptedFactors(factors);
  const passkey = accepted.passkeys > 0 ? (["passkey"] as const) : [];
  const totp = accepted.hasTotp ? (["totp"] as const) : [];
  const recovery = factors.recoveryCodes > 0 ? (["recovery"] as const) : [];
  return [...passkey, ...totp, ...recovery];
}

/** The methods that reach the required assurance; the one that works without scripts first. */
export const enrolmentMethods = (
  { required }: Pick<FactorStep, "required">,
  offered: readonly SecondFactorMethod[],
): EnrolmentMethod[] =>
  (required === assurance.phishingResistant ? (["passkey"] as const) : (["totp", "passkey"] as const)).filter(
    (method) => offered.includes(method),
  );

export function selectMethod<Method extends string>(
  methods: readonly Method[],
  chosen: string | undefined,
): Method | undefined {
  return methods.find((method) => method === chosen) ?? methods[0];
}
