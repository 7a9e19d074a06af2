/** Completes a sign-in by API: consumes the second factor and issues the session key in one transaction. */
import { sha256Base64url } from "@signet/protocol/hash";
import type { Application } from "../../../core/applications/application.ts";
import { recordAuditEvent } from "../../../core/audit/audit.store.ts";
import { recordBrowserUse } from "../../../core/known-browsers/known-browsers.store.ts";
import { type NoticeOrigin, sendNotice } from "../../../core/mail/notices.ts";
import type { Organisation } from "../../../core/organisations/organisation.ts";
import { type FactorProof, raiseAssurance } from "../../../core/second-factors/second-factor.ts";
import type { SessionKey } from "../../../core/session-keys/session-key.ts";
import { touchSessionKey } from "../../../core/session-keys/session-keys.store.ts";
import { issueSessionKey } from "../../../core/session-keys/session-keys.ts";
import { acrValues } from "../../../core/sessions/session.ts";
import { lockIfPasswordUnchanged } from "../../../core/users/account.store.ts";
import type { RightPassword } from "../../../core/users/check-password.ts";
import type { Db } from "../../../db/open.ts";
import type { LegacyDeps } from "../legacy-deps.ts";
import { wrongCode } from "../second-factor.ts";

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
  await proof?.accepted();
  deps.activity.count(signIn.organisation.id, "sign-ins");
  return started;
}

async function issue(
  tx: Db,
  deps: LegacyDeps,
  { organisation, application, right, proof, origin }: ServiceSignIn,
): Promise<{ key: SessionKey; secret: string } | undefined> {
  const now = deps.clock();
  const byPassword = { amr: ["pwd"], acr: acrValues.password };
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
    await recordAuditEvent(tx, { ...event, address: origin.address });
  }
  // In place of a known browser: the application.
  const browserHash = sha256Base64url(`application|${application.id}`);
  if (await recordBrowserUse(tx, { orgId, userId: user.id, browserHash, now })) return;
  await sendNotice(tx, deps, user, { template: "NewSignIn" }, { address: origin.address });
}
