/** A sign-in by API: checks the second factor, then consumes it and issues the session key in one transaction. */
import { sha256Base64url } from "@signet/protocol/hash";
import { countFailedSignIn, countSignIn } from "../../../core/activity/kinds.ts";
import type { Application } from "../../../core/applications/application.ts";
import { recordAuditEvent } from "../../../core/audit/audit.store.ts";
import { recordUnauthenticatedEvent } from "../../../core/audit/unauthenticated-events.ts";
import { recordBrowserUse } from "../../../core/known-browsers/known-browsers.store.ts";
import { type NoticeOrigin, sendNotice } from "../../../core/mail/notices.ts";
import type { Organisation } from "../../../core/organisations/organisation.ts";
import type { GuessSource } from "../../../core/rate-limits/guess-source.ts";
import { checkCode } from "../../../core/second-factors/check-code.ts";
import { factorStatus } from "../../../core/second-factors/factor-status.ts";
import {
  acceptedFactors,
  defaultAssurance,
  type FactorProof,
  type FactorSummary,
  mustAddPasskey,
  mustVerifyFactor,
  raiseAssurance,
} from "../../../core/second-factors/second-factor.ts";
import { readTotpCode } from "../../../core/second-factors/totp/totp.ts";
import type { SessionKey } from "../../../core/session-keys/session-key.ts";
import { touchSessionKey } from "../../../core/session-keys/session-keys.store.ts";
import { issueSessionKey } from "../../../core/session-keys/session-keys.ts";
import { acrValues, assurance, toAssurance } from "../../../core/sessions/session.ts";
import { lockIfPasswordUnchanged } from "../../../core/users/account.store.ts";
import type { RightPassword } from "../../../core/users/check-password.ts";
import type { User } from "../../../core/users/user.ts";
import type { Db } from "../../../db/open.ts";
import { ApiError } from "../../../http/api/api-error.ts";
import type { LegacyDeps } from "../legacy-deps.ts";

const BY_PASSWORD = ["pwd"];

export interface ServiceSignIn {
  readonly organisation: Organisation;
  readonly application: Application;
  readonly right: RightPassword;
  readonly proof: FactorProof | undefined;
  readonly origin: Required<Pick<NoticeOrigin, "address" | "userAgent">>;
}

/** @returns undefined when the password was changed since it was checked. @throws ApiError 401 for a used code */
export async function startServiceKey(
  deps: LegacyDeps,
  signIn: ServiceSignIn,
): Promise<{ key: SessionKey; secret: string } | undefined> {
  const { right, proof } = signIn;
  const started = await deps.database.transaction(async (tx) => {
    // Throws to roll the transaction back.
    if (proof && !(await proof.use(tx))) throw wrongCode();
    if (!(await lockIfPasswordUnchanged(tx, right.user, right.passwordChangedAt))) return undefined;
    await recordSignIn(tx, deps, signIn);
    return issue(tx, deps, signIn);
  });
  if (!started) return undefined;
  countSignIn(deps.activity.count, signIn.organisation.id, started.key.amr);
  return started;
}

async function issue(
  tx: Db,
  deps: LegacyDeps,
  { organisation, application, right, proof, origin }: ServiceSignIn,
): Promise<{ key: SessionKey; secret: string } | undefined> {
  const now = deps.clock();
  const byPassword = { amr: BY_PASSWORD, acr: acrValues.password };
  const { key, secret } = await issueSessionKey(tx, {
    orgId: organisation.id,
    applicationId: application.id,
    userId: right.user.id,
    sessionId: null,
    authTime: now,
    ...(proof ? raiseAssurance(byPassword, proof) : byPassword),
    address: origin.address,
    now,
  });
  // It did not travel through a browser, so it needs no first use to get the lifetime of its session.
  const validUntil = now + organisation.settings.sessionLifetimeSeconds * 1000;
  const active = await touchSessionKey(tx, key, validUntil, now);
  return active && { key: active, secret };
}

/** Audits a recovery code, and notifies the user of the first sign-in through an application. */
async function recordSignIn(tx: Db, deps: LegacyDeps, signIn: ServiceSignIn): Promise<void> {
  const { organisation, application, right, proof, origin } = signIn;
  const orgId = organisation.id;
  const { user } = right;
  const now = deps.clock();
  if (proof?.method === "recovery") {
    const event = {
      orgId,
      at: now,
      actor: `user:${user.id}`,
      action: "recovery-code.used" as const,
      target: user.id,
    };
    await recordAuditEvent(tx, { ...event, address: origin.address, applicationId: application.id });
  }
  // In place of a known browser: the application.
  const browserHash = sha256Base64url(`application|${application.id}`);
  if (await recordBrowserUse(tx, { orgId, userId: user.id, browserHash, now })) return;
  await sendNotice(tx, deps, user, { template: "NewSignIn" }, { address: origin.address });
}

export interface SecondFactorAttempt {
  readonly organisation: Organisation;
  readonly application: Application;
  readonly user: User;
  readonly code: string | undefined;
  readonly source: GuessSource;
}

/** @returns undefined when none is required. @throws ApiError 401 and 403 with what is missing, RateLimited */
export async function checkSecondFactor(
  deps: LegacyDeps,
  attempt: SecondFactorAttempt,
): Promise<FactorProof | undefined> {
  const { organisation, application, user, code, source } = attempt;
  const now = deps.clock();
  // There is no trusted browser here: a user with a second factor always needs it.
  const factors = await factorStatus(deps.database.query, organisation, user, {
    trustedBrowserToken: undefined,
    now,
  });
  if (mustAddPasskey(factors, { amr: BY_PASSWORD })) throw enrolmentRequired();
  const required = toAssurance(application.settings.requiredAcr ?? "");
  const demanded = defaultAssurance(factors);
  const isDue = demanded > assurance.none || required > assurance.password;
  if (!isDue) return undefined;
  const needsPasskey = Math.max(required, demanded) === assurance.phishingResistant;
  const accepted = acceptedFactors(factors);
  requireCodeFactor(needsPasskey ? factors : accepted, needsPasskey);
  if (code === undefined)
    throw new ApiError(401, "two-factor-required", "A second factor is required", {
      detail: "Repeat the request with `TwoFactorCode`.",
    });
  const isTotp = accepted.hasTotp && readTotpCode(code) !== undefined;
  const method = isTotp ? "totp" : "recovery";
  const orgId = organisation.id;
  const proof = await checkCode(deps, { orgId, user, method, input: code, source });
  if (proof) return proof;
  countFailedSignIn(deps.activity.count, orgId, "second-factor");
  await recordWrongCode(deps, attempt);
  throw wrongCode();
}

export const wrongCode = () => new ApiError(401, "invalid-two-factor-code", "Incorrect code");

const byBrowser = { detail: "Send the user to the sign-in page: this call cannot do it." };

const enrolmentRequired = () =>
  new ApiError(403, "second-factor-enrolment-required", "The user must add a second factor first", byBrowser);

function requireCodeFactor(factors: FactorSummary, requiresPasskey: boolean): void {
  const hasCode = factors.hasTotp || factors.recoveryCodes > 0;
  if (requiresPasskey ? factors.passkeys === 0 : !mustVerifyFactor(factors)) throw enrolmentRequired();
  if (requiresPasskey || !hasCode)
    throw new ApiError(403, "passkey-required", "The user must sign in with a passkey", byBrowser);
}

const recordWrongCode = (
  deps: LegacyDeps,
  { organisation, application, user, source: { address } }: SecondFactorAttempt,
): Promise<void> =>
  recordUnauthenticatedEvent(deps, {
    orgId: organisation.id,
    actor: `user:${user.id}`,
    action: "second-factor.failed",
    target: user.id,
    address,
    applicationId: application.id,
    details: { reason: "wrong code or passkey" },
  });
