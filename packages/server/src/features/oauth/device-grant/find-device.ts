/** The device behind a code that a person typed. A guess is counted before it is looked at, and given back when it is right. */

import type { Application } from "../../../core/applications/application.ts";
import { deviceCodeGrantType } from "../../../core/applications/application.ts";
import { recordAuditEvent } from "../../../core/audit/audit.store.ts";
import type { AskedScopes } from "../../../core/consents/consent.ts";
import {
  type DeviceAuthorization,
  readUserCode,
} from "../../../core/device-authorizations/device-authorization.ts";
import { findByUserCode } from "../../../core/device-authorizations/device-authorizations.store.ts";
import { networkOf } from "../../../core/rate-limits/network.ts";
import { countAttempt } from "../../../core/rate-limits/rate-limits.ts";
import { type CustomScope, fingerprintsOf } from "../../../core/scopes/custom-scope.ts";
import type { User } from "../../../core/users/user.ts";
import { addressOf } from "../../../http/listeners/client-address.ts";
import type { BrowserDeps, Visit } from "../authorize/browser.ts";

export interface WaitingDevice {
  readonly device: DeviceAuthorization;
  readonly application: Application;
  readonly userCode: string;
  /** Looked at once: a yes is to what the page has shown, also when a scope is changed while the yes is written. */
  readonly customScopes: readonly CustomScope[];
}

/** What the device asks for. */
export const askedOf = ({ device: { scopes }, customScopes }: WaitingDevice): AskedScopes => ({
  scopes,
  fingerprints: fingerprintsOf(customScopes, scopes),
});

/**
 * @returns `wrong-code` for what is unknown, expired, another organisation's or of an application that may not any more
 * @throws RateLimited after too many wrong codes, from one network or by one user
 */
export async function findDevice(
  deps: BrowserDeps,
  visit: Visit,
  user: User,
  typed: string,
): Promise<WaitingDevice | "wrong-code" | "used-code"> {
  const orgId = visit.organisation.id;
  const address = addressOf(visit.request);
  const limit = deps.rateLimits["user-code"];
  const attempt = await countAttempt(deps, orgId, [
    { limit, subject: networkOf(address) },
    // Who is signed in guesses as one person, from wherever.
    { limit, subject: `user:${user.id}` },
  ]);
  const now = deps.clock();
  const code = readUserCode(typed);
  const device = code && (await findByUserCode(deps.database.query, { orgId, hash: code.hash, now }));
  const application = device && (await deps.applications.find(orgId, device.applicationId));
  if (!code || !device || !application?.settings.grantTypes.includes(deviceCodeGrantType)) {
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
  if (device.status !== "pending") return "used-code";
  const customScopes = await deps.customScopes.list(orgId);
  return { device, application, userCode: code.userCode, customScopes };
}
