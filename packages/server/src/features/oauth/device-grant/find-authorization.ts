/** The pending authorization behind a user code. Only wrong codes count. */
import { type Application, deviceCodeGrantType } from "../../../core/applications/application.ts";
import { recordAuditEvent } from "../../../core/audit/audit.store.ts";
import type { RequestedScopes } from "../../../core/consents/consent.ts";
import {
  type DeviceAuthorization,
  readUserCode,
} from "../../../core/device-authorizations/device-authorization.ts";
import { findByUserCode } from "../../../core/device-authorizations/device-authorizations.store.ts";
import { checkGuess } from "../../../core/rate-limits/attempts.ts";
import { networkPrefix } from "../../../core/rate-limits/rate-limits.ts";
import { grantableByUser } from "../../../core/scopes/api-scopes.ts";
import { type CustomScope, fingerprintsOf } from "../../../core/scopes/custom-scope.ts";
import { definitionsOf, stillDefined } from "../../../core/scopes/scope-definitions.ts";
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
}: PendingAuthorization): RequestedScopes => ({
  scopes,
  fingerprints: fingerprintsOf(customScopes, scopes),
  definitions: definitionsOf(customScopes, scopes),
});

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
  const counted = [
    // A signed-in user is counted across networks, and first: what this refuses counts for nobody else on the network.
    { limit, subject: `user:${user.id}` },
    { limit, subject: networkPrefix(address) },
  ];
  const found = await checkGuess(
    deps,
    orgId,
    counted,
    () => find(deps, orgId, input),
    (one) => one !== undefined,
  );
  if (!found) {
    await recordAuditEvent(deps.database.query, {
      orgId,
      at: deps.clock(),
      actor: `user:${user.id}`,
      action: "user-code.failed",
      address,
    });
    return "wrong-code";
  }
  if (found.authorization.status !== "pending") return "used-code";
  const customScopes = await deps.customScopes.list(orgId);
  const { authorization } = found;
  // Without scopes that were deleted or made anew since the device asked: the tokens would not have them.
  const defined = stillDefined(authorization.scopes, authorization, customScopes);
  const scopes = grantableByUser(defined, user, found.application.settings);
  if (scopes.length === 0) return "used-code";
  return { ...found, authorization: { ...authorization, scopes }, customScopes };
}

/** @returns undefined for a wrong code */
async function find(
  { database, clock, applications }: BrowserDeps,
  orgId: string,
  input: string,
): Promise<Omit<PendingAuthorization, "customScopes"> | undefined> {
  const code = readUserCode(input);
  if (!code) return undefined;
  const authorization = await findByUserCode(database.query, { orgId, hash: code.hash, now: clock() });
  const application = authorization && (await applications.find(orgId, authorization.applicationId));
  if (!authorization || !application?.settings.grantTypes.includes(deviceCodeGrantType)) return undefined;
  return { authorization, application, userCode: code.userCode };
}
