/**
 * Client for API v1: users, groups, roles, applications, connections and all else of an organisation, with access tokens. Start
 * with `apiClient`.
 *
 * @module api
 */

export type { GrantConfiguration } from "../grants/grant-settings.ts";
export type { TokenSource } from "../grants/token-source.ts";
export type { ServiceOptions } from "../service-api/service-client.ts";
export type {
  BodyOf,
  CallOptions,
  ItemList,
  ItemOf,
  ListOptions,
  Page,
  PathParameter,
} from "../service-api/typed-client.ts";
export type { DeleteOptions, RepeatOptions, Versioned } from "../service-api/versions.ts";
export type { ApiCalls } from "./api-calls.ts";
export {
  type ApiClient,
  type ApiClientOptions,
  type ApiErrorCode,
  apiClient,
  apiErrorCode,
  apiErrorCodes,
} from "./api-client.ts";
export type {
  ApiAct,
  ApiAnswer,
  ApiBody,
  ApiCollection,
  ApiInput,
  ApiItem,
  ApiListRoute,
  ApiPath,
  ApiQuery,
  ApiRoute,
  ApiRouteOf,
  OrganisationPath,
} from "./api-types.ts";
export type {
  ApiApplication,
  ApiApplicationChange,
  ApiAssignedGroup,
  ApiAssignedUser,
  ApiCreatedApplication,
  ApiNewApplication,
} from "./generated/applications.ts";
export type {
  ApiClientCertificateAuthority,
  ApiClientCertificateAuthorityChange,
  ApiNewClientCertificateAuthority,
} from "./generated/client-certificate-authorities.ts";
export type { ApiCreatedClientSecret } from "./generated/client-secrets.ts";
export type {
  ApiConfiguration,
  ApiConfigurationChange,
  ApiConfigurationChanges,
  ApiConfigurationFile,
} from "./generated/configuration.ts";
export type {
  ApiConnection,
  ApiConnectionCall,
  ApiConnectionChange,
  ApiConnectionSignIn,
  ApiConnectionTest,
  ApiCreatedConnectionToken,
  ApiNewConnection,
  ApiNewConnectionToken,
  ApiStartedConnectionTest,
} from "./generated/connections.ts";
export type { ApiConsent, ApiConsentGrant, ApiGrant, ApiPreauthorization } from "./generated/consents.ts";
export type {
  ApiAllowedEk,
  ApiCreatedEnrollmentCode,
  ApiDevice,
  ApiDeviceCaGeneration,
  ApiDeviceCertificate,
  ApiDeviceRevocation,
  ApiDeviceRoot,
  ApiEnrollmentCode,
  ApiNewAllowedEk,
  ApiNewDeviceRoot,
  ApiNewEnrollmentCode,
} from "./generated/devices.ts";
export type { ApiBreakGlassAccount, ApiDomain, ApiDomainChange, ApiNewDomain } from "./generated/domains.ts";
export type { ApiGroupMember, ApiGroupPatch } from "./generated/groups.ts";
export type {
  ApiCreatedInvitation,
  ApiInvitation,
  ApiInvitationBatch,
  ApiInvitationResult,
  ApiInvitationResults,
  ApiNewInvitation,
} from "./generated/invitations.ts";
export type { ApiNewOrganisation, ApiRoot } from "./generated/operators.ts";
export type {
  ApiAuditEvent,
  ApiNewImage,
  ApiOrganisationChange,
  ApiSignIn,
  ApiSignInSettings,
  ApiSigningKey,
  ApiSignUp,
  ApiSignUpRejection,
  ApiSignUpSettings,
  ApiWaitingSignUp,
} from "./generated/organisation.ts";
export type { ApiNewPortalLink, ApiPortalLink, ApiPortalLinkWithUrl } from "./generated/portal-links.ts";
export type { ApiNewResource, ApiResource, ApiResourceChange } from "./generated/resources.ts";
export type {
  ApiAccess,
  ApiAssignment,
  ApiRole,
  ApiRolePatch,
  NewApiAssignment,
  NewApiRole,
} from "./generated/roles.ts";
export type { ApiNewScope, ApiScopeChange, ApiScopeUse } from "./generated/scopes.ts";
export type {
  ApiClientSecret,
  ApiConnectionToken,
  ApiGroup,
  ApiOrganisation,
  ApiScope,
  NewApiGroup,
} from "./generated/shared.ts";
export type {
  ApiCreatedSigningAgent,
  ApiNewSigningAgent,
  ApiNewSigningAgentKey,
  ApiNewSigningPool,
  ApiSigningAgent,
  ApiSigningAgentKey,
  ApiSigningPool,
  ApiSigningPoolChange,
} from "./generated/signing-pools.ts";
export type {
  ApiCreatedSystemAccount,
  ApiCreatedSystemAccountKey,
  ApiNewSystemAccount,
  ApiSystemAccount,
  ApiSystemAccountChange,
  ApiSystemAccountKey,
} from "./generated/system-accounts.ts";
export type {
  ApiClientIdMetadataPolicy,
  ApiClientIdMetadataPolicySettings,
  ApiInitialAccessToken,
  ApiInitialAccessTokenChange,
  ApiInitialAccessTokenWithToken,
  ApiNewInitialAccessToken,
} from "./generated/unregistered-clients.ts";
export type {
  ApiNewUser,
  ApiSession,
  ApiUser,
  ApiUserImport,
  ApiUserImportResult,
} from "./generated/users.ts";
export type {
  ApiNewWebhook,
  ApiWebhook,
  ApiWebhookChange,
  ApiWebhookDelivery,
  ApiWebhookDeliveryWithPayload,
  ApiWebhookReplay,
  ApiWebhookReplayed,
  ApiWebhookRotation,
  ApiWebhookWithSecret,
} from "./generated/webhooks.ts";
export type {
  ActOptions,
  ApiActs,
  ApiChanges,
  ApiCreates,
  ApiDeletes,
  ApiReads,
  ChangeOptions,
} from "./record-methods.ts";
