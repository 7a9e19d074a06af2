/** The methods that a user can verify or enrol as a second factor. */
import type { FactorSummary } from "../../../../core/second-factors/second-factor.ts";
import { assurance } from "../../../../core/sessions/session.ts";
import type { FactorStep } from "../next-step.ts";

export type VerificationMethod = "passkey" | "totp" | "recovery";
export type EnrolmentMethod = "totp" | "passkey";

/** The user's methods that reach the required assurance, strongest first. */
export function verificationMethods(
  { required }: Pick<FactorStep, "required">,
  factors: FactorSummary,
): VerificationMethod[] {
  const passkey = factors.passkeys > 0 ? (["passkey"] as const) : [];
  if (required === assurance.phishingResistant) return [...passkey];
  const totp = factors.hasTotp ? (["totp"] as const) : [];
  const recovery = factors.recoveryCodes > 0 ? (["recovery"] as const) : [];
  return [...passkey, ...totp, ...recovery];
}

/** The methods that reach the required assurance; the one that works without scripts first. */
export const enrolmentMethods = ({ required }: Pick<FactorStep, "required">): EnrolmentMethod[] =>
  required === assurance.phishingResistant ? ["passkey"] : ["totp", "passkey"];

export function selectMethod<Method extends string>(
  methods: readonly Method[],
  chosen: string | undefined,
): Method | undefined {
  return methods.find((method) => method === chosen) ?? methods[0];
}
