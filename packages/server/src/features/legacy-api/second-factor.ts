/** The second factor of a sign-in by API: a code, never a passkey. */
import type { Application } from "../../core/applications/application.ts";
import { recordUnauthenticatedEvent } from "../../core/audit/unauthenticated-events.ts";
import type { Organisation } from "../../core/organisations/organisation.ts";
import { checkCode } from "../../core/second-factors/check-code.ts";
import { factorStatus } from "../../core/second-factors/factor-status.ts";
import type { FactorProof } from "../../core/second-factors/second-factor.ts";
import { type FactorSummary, hasSecondFactor } from "../../core/second-factors/second-factor.ts";
import { readTotpCode } from "../../core/second-factors/totp/totp.ts";
import { assurance, toAssurance } from "../../core/sessions/session.ts";
import type { User } from "../../core/users/user.ts";
import { ApiError } from "../../http/api/api-error.ts";
import type { LegacyDeps } from "./legacy-deps.ts";

export interface SecondFactorAttempt {
  readonly organisation: Organisation;
  readonly application: Application;
  readonly user: User;
  readonly code: string | undefined;
  readonly address: string;
}

/** @returns undefined when none is required. @throws ApiError 401 and 403 with what is missing, RateLimited */
export async function checkSecondFactor(
  deps: LegacyDeps,
  attempt: SecondFactorAttempt,
): Promise<FactorProof | undefined> {
  const { organisation, application, user, code, address } = attempt;
  const now = deps.clock();
  // There is no trusted browser here: a user with a second factor always needs it.
  const factors = await factorStatus(deps.database.query, organisation, user, {
    trustedBrowserToken: undefined,
    now,
  });
  const required = toAssurance(application.settings.requiredAcr ?? "");
  const isDue = hasSecondFactor(factors) || factors.isRequired || required > assurance.password;
  if (!isDue) return undefined;
  requireCodeFactor(factors, required === assurance.phishingResistant);
  if (code === undefined)
    throw new ApiError(401, "two-factor-required", "A second factor is required", {
      detail: "Repeat the request with `TwoFactorCode`.",
    });
  const isTotp = factors.hasTotp && readTotpCode(code) !== undefined;
  const method = isTotp ? "totp" : "recovery";
  const orgId = organisation.id;
  const proof = await checkCode(deps, { orgId, user, method, typed: code, address });
  if (proof) return proof;
  deps.activity.count(orgId, "failed-sign-ins");
  await recordWrongCode(deps, attempt);
  throw wrongCode();
}

export const wrongCode = () => new ApiError(401, "invalid-two-factor-code", "Incorrect code");

function requireCodeFactor(factors: FactorSummary, requiresPasskey: boolean): void {
  const byBrowser = { detail: "Send the user to the sign-in page: this call cannot do it." };
  const hasCode = factors.hasTotp || factors.recoveryCodes > 0;
  if (requiresPasskey ? factors.passkeys === 0 : !hasSecondFactor(factors))
    throw new ApiError(
      403,
      "second-factor-enrolment-required",
      "The user must add a second factor first",
      byBrowser,
    );
  if (requiresPasskey || !hasCode)
    throw new ApiError(403, "passkey-required", "The user must sign in with a passkey", byBrowser);
}

const recordWrongCode = (
  deps: LegacyDeps,
  { organisation, user, address }: SecondFactorAttempt,
): Promise<void> =>
  recordUnauthenticatedEvent(deps, {
    orgId: organisation.id,
    actor: `user:${user.id}`,
    action: "second-factor.failed",
    target: user.id,
    address,
    details: { reason: "wrong code or passkey" },
  });
