/** The pending authorization behind a user code. A guess is counted before the look-up, and uncounted when it is right. */
import { type Application, deviceCodeGrantType } from "../../../core/applications/application.ts";
import { recordAuditEvent } from "../../../core/audit/audit.store.ts";
import type { RequestedScopes } from "../../../core/consents/consent.ts";
import {
  type DeviceAuthorization,
  readUserCode,
} from "../../../core/device-authorizations/device-authorization.ts";
import { findByUserCode } from "../../../core/device-authorizations/device-authorizations.store.ts";
import { countAttempt, networkPrefix } from "../../../core/rate-limits/rate-limits.ts";
import { type CustomScope, fingerprintsOf } from "../../../core/scopes/custom-scope.ts";
import type { User } from "../../../core/users/user.ts";
import { addressOf } from "../../../http/listeners/client-address.ts";
import type { BrowserDeps, Visit } from "../authorize/browser.ts";

export interface PendingAuthorization {
  readonly authorization: DeviceAuthorization;
  readonly application: Application;
  readonly userCode: string;
  /** Read once: the decision is about the scopes that the page showed, even if one changes meanwhile. */
  readonly customScopes: readonly CustomScope[];
}

export const requestedScopes = ({
  authorization: { scopes },
  customScopes,
}: PendingAuthorization): RequestedScopes => ({ scopes, fingerprints: fingerprintsOf(customScopes, scopes) });

/**
 * @returns `wrong-code` for a code that is unknown, expired or another organisation's, or whose application has lost the grant
 * @throws RateLimited after too many wrong codes from one network or by one user
 */
export async function findPendingAuthorization(
  deps: BrowserDeps,
  visit: Visit,
  user: User,
  input: string,
): Promise<PendingAuthorization | "wrong-code" | "used-code"> {
  const orgId = visit.organisation.id;
  const address = addressOf(visit.request);
  const limit = deps.rateLimits["user-code"];
  const attempt = await countAttempt(deps, orgId, [
    { limit, subject: networkPrefix(address) },
    // A signed-in user is also counted across networks.
    { limit, subject: `user:${user.id}` },
  ]);
  const now = deps.clock();
  const code = readUserCode(input);
  const authorization = code && (await findByUserCode(deps.database.query, { orgId, hash: code.hash, now }));
  const application = authorization && (await deps.applications.find(orgId, authorization.applicationId));
  if (!code || !authorization || !application?.settings.grantTypes.includes(deviceCodeGrantType)) {
    await recordAuditEvent(deps.database.query, {
      orgId,
      at: now,
      actor: `user:${user.id}`,
      action: "user-code.failed",
      address,
    });
    return "wrong-code";
  }
  await attempt.giveBack();
  if (authorization.status !== "pending") return "used-code";
  const customScopes = await deps.customScopes.list(orgId);
  return { authorization, application, userCode: code.userCode, customScopes };
}
