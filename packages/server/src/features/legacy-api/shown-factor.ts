/** The second factor of a sign-in without a page: a code does, a passkey does not. */
import type { Application } from "../../core/applications/application.ts";
import { recordStrangersEvent } from "../../core/audit/unauthenticated-events.ts";
import type { Organisation } from "../../core/organisations/organisation.ts";
import { checkCode } from "../../core/second-factors/check-code.ts";
import type { FactorProof } from "../../core/second-factors/factor-proof.ts";
import { factorStanding } from "../../core/second-factors/factor-status.ts";
import { type FactorSummary, hasSecondFactor } from "../../core/second-factors/second-factor.ts";
import { readTotpCode } from "../../core/second-factors/totp/totp.ts";
import { assurance, assuranceOf } from "../../core/sessions/assurance.ts";
import type { User } from "../../core/users/user.ts";
import { ApiError } from "../../http/api/api-error.ts";
import type { LegacyDeps } from "./legacy-deps.ts";

export interface Shown {
  readonly organisation: Organisation;
  readonly application: Application;
  /** Whose password was right. */
  readonly user: User;
  readonly code: string | undefined;
  /** The network address that it came from. */
  readonly address: string;
}

/** @returns undefined when none is due. @throws ApiError 401 and 403 with what is missing, RateLimited */
export async function shownFactor(deps: LegacyDeps, shown: Shown): Promise<FactorProof | undefined> {
  const { organisation, application, user, code, address } = shown;
  const now = deps.clock();
  // No browser is remembered here: whoever has a second factor shows it.
  const standing = await factorStanding(deps.database.query, organisation, user, {
    deviceToken: undefined,
    now,
  });
  const demanded = assuranceOf(application.settings.requiredAcr ?? "");
  const isDue = hasSecondFactor(standing) || standing.isRequired || demanded > assurance.password;
  if (!isDue) return undefined;
  requireCodeFactor(standing, demanded === assurance.phishingResistant);
  if (code === undefined)
    throw new ApiError(401, "two-factor-required", "A second factor is required", {
      detail: "Send it once more with `TwoFactorCode`.",
    });
  const isTotp = standing.hasTotp && readTotpCode(code) !== undefined;
  const method = isTotp ? "totp" : "recovery";
  const orgId = organisation.id;
  const proof = await checkCode(deps, { orgId, user, method, typed: code, address });
  if (proof) return proof;
  deps.activity.count(orgId, "failed-sign-ins");
  await noteWrongCode(deps, shown);
  throw wrongCode();
}

export const wrongCode = () => new ApiError(401, "invalid-two-factor-code", "The code is wrong");

function requireCodeFactor(factors: FactorSummary, wantsPasskey: boolean): void {
  const byBrowser = { detail: "Send the user to the sign-in page: it cannot be done by this call." };
  const hasCode = factors.hasTotp || factors.recoveryCodes > 0;
  if (wantsPasskey ? factors.passkeys === 0 : !hasSecondFactor(factors))
    throw new ApiError(
      403,
      "second-factor-enrolment-required",
      "The user must add a second factor first",
      byBrowser,
    );
  if (wantsPasskey || !hasCode)
    throw new ApiError(403, "passkey-required", "The user must show a passkey", byBrowser);
}

const noteWrongCode = (deps: LegacyDeps, { organisation, user, address }: Shown): Promise<void> =>
  recordStrangersEvent(deps, {
    orgId: organisation.id,
    actor: `user:${user.id}`,
    action: "second-factor.failed",
    target: user.id,
    address,
    details: { reason: "wrong code or passkey" },
  });
