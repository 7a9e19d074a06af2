/** An organisation as commands show it. */
import { issuerOf, type Organisation } from "../../core/organisations/organisation.ts";
import { enabledStatus, formatTime, formatTimeOrNull } from "../output.ts";

export const orgRecord = (organisation: Organisation, baseUrl: string) => ({
  id: organisation.id,
  name: organisation.name,
  issuer: issuerOf(baseUrl, organisation.id),
  signInMethods: organisation.settings.signInMethods,
  passkeyEnrolment: organisation.settings.passkeyEnrolment,
  secondFactorMethods: organisation.settings.secondFactorMethods,
  secondFactor: organisation.settings.secondFactor,
  requireVerifiedEmail: organisation.settings.requireVerifiedEmail,
  allowAccountDeletion: organisation.settings.allowAccountDeletion,
  requirePushedAuthorizationRequests: organisation.settings.requirePushedAuthorizationRequests,
  ledger: organisation.settings.ledger,
  createdAt: formatTime(organisation.createdAt),
  disabledAt: formatTimeOrNull(organisation.disabledAt),
  deleteAfter: formatTimeOrNull(organisation.deleteAfter),
});

export function statusOf({ disabledAt, deleteAfter }: Organisation): string {
  if (deleteAfter !== null) return `to be deleted after ${formatTime(deleteAfter)}`;
  return enabledStatus({ disabledAt });
}
