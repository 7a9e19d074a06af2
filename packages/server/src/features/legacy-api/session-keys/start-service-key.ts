/** The end of a sign-in by call: the code is used up and the key made in one transaction, or neither. */
import { sha256Base64url } from "@signet/protocol/hash";
import type { Application } from "../../../core/applications/application.ts";
import { recordAuditEvent } from "../../../core/audit/audit.store.ts";
import { noteBrowser } from "../../../core/known-browsers/known-browsers.store.ts";
import { type NoticeOrigin, sendNotice } from "../../../core/mail/notices.ts";
import type { Organisation } from "../../../core/organisations/organisation.ts";
import { type FactorProof, raised } from "../../../core/second-factors/factor-proof.ts";
import type { SessionKey } from "../../../core/session-keys/session-key.ts";
import { touchSessionKey } from "../../../core/session-keys/session-keys.store.ts";
import { issueSessionKey } from "../../../core/session-keys/session-keys.ts";
import { acrValues } from "../../../core/sessions/session.ts";
import type { RightPassword } from "../../../core/users/check-password.ts";
import { holdPassword } from "../../../core/users/users.store.ts";
import type { Db } from "../../../db/open.ts";
import type { LegacyDeps } from "../legacy-deps.ts";
import { wrongCode } from "../shown-factor.ts";

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
    // Thrown, so that nothing of it stays.
    if (proof && !(await proof.use(tx))) throw wrongCode();
    if (!(await holdPassword(tx, right.user, right.passwordChangedAt))) return undefined;
    await noteSignIn(tx, deps, signIn);
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
    ...(proof ? raised(byPassword, proof) : byPassword),
    address: origin.address,
    now,
  });
  // It did not travel through a browser: whoever asked for it has it, and it lives as long as its session from now on.
  const livesUntil = now + organisation.settings.sessionLifetimeSeconds * 1000;
  const shown = await touchSessionKey(tx, key, livesUntil, now);
  return shown && { key: shown, secret };
}

/** Recovery codes are audited when used; a sign-in through an application not used before is told by mail. */
async function noteSignIn(tx: Db, deps: LegacyDeps, signIn: ServiceSignIn): Promise<void> {
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
  // There is no browser to know again: the application stands for it.
  const browserHash = sha256Base64url(`application|${application.id}`);
  if (await noteBrowser(tx, { orgId, userId: user.id, browserHash, now })) return;
  await sendNotice(tx, deps, user, { template: "NewSignIn" }, { address: origin.address });
}
