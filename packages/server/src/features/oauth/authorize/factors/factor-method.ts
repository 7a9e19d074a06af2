/** The ways to show a second factor, and to add one. */
import type { FactorSummary } from "../../../../core/second-factors/second-factor.ts";
import { assurance } from "../../../../core/sessions/assurance.ts";
import type { FactorStep } from "../next-step.ts";

export type ShownMethod = "passkey" | "totp" | "recovery";
export type AddedMethod = "totp" | "passkey";

/** What this user can show that reaches far enough, strongest first. */
export function methodsToShow(
  { atLeast }: Pick<FactorStep, "atLeast">,
  factors: FactorSummary,
): ShownMethod[] {
  const passkey = factors.passkeys > 0 ? (["passkey"] as const) : [];
  if (atLeast === assurance.phishingResistant) return [...passkey];
  const totp = factors.hasTotp ? (["totp"] as const) : [];
  const recovery = factors.recoveryCodes > 0 ? (["recovery"] as const) : [];
  return [...passkey, ...totp, ...recovery];
}

/** What reaches far enough, the one that needs no script first. */
export const methodsToAdd = ({ atLeast }: Pick<FactorStep, "atLeast">): AddedMethod[] =>
  atLeast === assurance.phishingResistant ? ["passkey"] : ["totp", "passkey"];

/** The one that is asked for if it is among them, else the first. */
export function chosenMethod<Method extends string>(
  methods: readonly Method[],
  wished: string | undefined,
): Method | undefined {
  return methods.find((method) => method === wished) ?? methods[0];
}
