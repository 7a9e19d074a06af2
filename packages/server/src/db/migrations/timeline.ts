/** All migrations, oldest first. A released one never changes: add a new one. */
import { foundation } from "./0001-foundation.ts";
import { openidComplete } from "./0002-openid-complete.ts";
import { systemAccountsSessionKeys } from "./0003-system-accounts-session-keys.ts";
import { sovereignSigning } from "./0004-sovereign-signing.ts";
import { deviceIdentity } from "./0005-device-identity.ts";
import { consolePages } from "./0006-console.ts";
import { compromisedKeys } from "./0007-compromised-keys.ts";
import { consentRevokedBy } from "./0008-consent-revoked-by.ts";
import { userProfile } from "./0009-user-profile.ts";
import { placesOfAttempts } from "./0010-places-of-attempts.ts";
import { refusedRequests } from "./0012-refused-requests.ts";
import { migratedBy } from "./0013-migrated-by.ts";
import { scopeDefinitions } from "./0014-scope-definitions.ts";
import { outboxTurns } from "./0015-outbox-turns.ts";
import { auditSearch } from "./0016-audit-search.ts";
import { factorResetRequests } from "./0017-factor-reset-requests.ts";
import { mailTexts } from "./0018-mail-texts.ts";
import { memberOrder } from "./0019-member-order.ts";
import { organisationImages } from "./0021-organisation-images.ts";
import { applicationOrder } from "./0023-application-order.ts";
import { listOrders } from "./0024-list-orders.ts";
import { savedFilters } from "./0025-saved-filters.ts";
import { organisationDeletion } from "./0026-organisation-deletion.ts";
import { installationKey } from "./0027-installation-key.ts";
import { auditStream } from "./0028-audit-stream.ts";
import { auditCheckpoint } from "./0029-audit-checkpoint.ts";
import { idempotencyOfClients } from "./0030-idempotency-of-clients.ts";
import { connections } from "./0031-connections.ts";
import { groupsRoles } from "./0032-groups-roles.ts";
import { scimGroups } from "./0033-scim-groups.ts";
import { agentKeyClaim } from "./0034-agent-key-claim.ts";
import { signInConnections } from "./0035-sign-in-connections.ts";
import { operators } from "./0036-operators.ts";
import { domains } from "./0037-domains.ts";
import { scimCounts } from "./0038-scim-counts.ts";
import { firstSignIns } from "./0039-first-sign-ins.ts";
import { moreEmails } from "./0040-more-emails.ts";
import { invitations } from "./0041-invitations.ts";
import { claimedGroups } from "./0042-claimed-groups.ts";
import { deviceOrder } from "./0043-device-order.ts";
import { upstreamSignIns } from "./0044-upstream-sign-ins.ts";
import { connectionKeys } from "./0045-connection-keys.ts";
import { emailSignIns } from "./0046-email-sign-ins.ts";
import { samlReturns } from "./0047-saml-returns.ts";
import { connectionTests } from "./0048-connection-tests.ts";
import { boundGrants } from "./0049-bound-grants.ts";
import { webhooks } from "./0050-webhooks.ts";
import { samlLogout } from "./0051-saml-logout.ts";
import { logoutHintsEnd } from "./0052-logout-hints-end.ts";
import { signUps } from "./0053-sign-ups.ts";
import { sharedApplications } from "./0054-shared-applications.ts";
import { eventStreams } from "./0055-event-streams.ts";
import { invitedConnections } from "./0056-invited-connections.ts";
import { pushedRequests } from "./0057-pushed-requests.ts";
import { trusts } from "./0058-trusts.ts";
import { protectedResources } from "./0059-protected-resources.ts";
import { ledger } from "./0060-ledger.ts";
import { authorizationDetails } from "./0061-authorization-details.ts";
import { clientAuthorities } from "./0062-client-authorities.ts";
import { portalLinks } from "./0063-portal-links.ts";
import { tokenExchange } from "./0064-token-exchange.ts";
import { unregisteredClients } from "./0065-unregistered-clients.ts";
import { clientRegistration } from "./0066-client-registration.ts";
import { cibaRequests } from "./0067-ciba-requests.ts";
import { disabledGuests } from "./0068-disabled-guests.ts";
import { thresholdKeys } from "./0069-threshold-keys.ts";
import { thresholdReshares } from "./0070-threshold-reshares.ts";
import { firstGrants } from "./0071-first-grants.ts";
import { connectionNames } from "./0072-connection-names.ts";
import { deviceSessions } from "./0073-device-sessions.ts";
import { approvals } from "./0074-approvals.ts";
import { signedRequests } from "./0075-signed-requests.ts";
import { thresholdPartsAwaited } from "./0076-threshold-parts-awaited.ts";
import { thresholdStockByKey } from "./0077-threshold-stock-by-key.ts";
import type { Migration } from "./migration.ts";

export const timeline: readonly Migration[] = [
  foundation,
  openidComplete,
  systemAccountsSessionKeys,
  sovereignSigning,
  deviceIdentity,
  consolePages,
  compromisedKeys,
  consentRevokedBy,
  userProfile,
  placesOfAttempts,
  refusedRequests,
  migratedBy,
  scopeDefinitions,
  outboxTurns,
  auditSearch,
  factorResetRequests,
  mailTexts,
  memberOrder,
  organisationImages,
  applicationOrder,
  listOrders,
  savedFilters,
  organisationDeletion,
  installationKey,
  auditStream,
  auditCheckpoint,
  idempotencyOfClients,
  connections,
  groupsRoles,
  scimGroups,
  agentKeyClaim,
  signInConnections,
  operators,
  domains,
  scimCounts,
  firstSignIns,
  moreEmails,
  invitations,
  claimedGroups,
  deviceOrder,
  upstreamSignIns,
  connectionKeys,
  emailSignIns,
  samlReturns,
  connectionTests,
  boundGrants,
  webhooks,
  samlLogout,
  logoutHintsEnd,
  signUps,
  sharedApplications,
  eventStreams,
  invitedConnections,
  pushedRequests,
  trusts,
  protectedResources,
  ledger,
  authorizationDetails,
  clientAuthorities,
  portalLinks,
  tokenExchange,
  unregisteredClients,
  clientRegistration,
  cibaRequests,
  disabledGuests,
  thresholdKeys,
  thresholdReshares,
  firstGrants,
  connectionNames,
  deviceSessions,
  approvals,
  signedRequests,
  thresholdPartsAwaited,
  thresholdStockByKey,
];
