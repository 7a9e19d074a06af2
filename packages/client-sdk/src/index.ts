/**
 * Protects web applications and APIs with Signet, or with any standards-compliant OpenID provider. Start with `createFilter` and
 * an adapter: `protect` for servers with Web `Request`s, or `./express`, `./fastify`, `./hono` and `./node`.
 *
 * @module client-sdk
 */

export { type FetchAdapterOptions, identify, protect } from "./adapters/fetch.ts";
export { checkConfiguration } from "./configuration/check-configuration.ts";
export { configurationFromEnvironment } from "./configuration/environment.ts";
export type {
  AcceptedOrganisations,
  ApplicationProperties,
  ConfigurationProperties,
  FilterOptions,
  IssuerProperties,
  LedgerSettings,
  OAuthFederatedConfiguration,
  OAuthUserBearerConfiguration,
  OrganisationProperties,
  Requiring,
  SecurityProfile,
  Settings,
  SignetConfiguration,
  SovereignSettings,
  SystemAccountExternalConfiguration,
  UserFederatedConfiguration,
} from "./configuration/settings.ts";
export { createFilter, type FilterFunctions, middleware, none } from "./create-filter.ts";
export { type Problem, SignetError, type SignetErrorCode, type SignetErrorDetails } from "./errors.ts";
export type { Filter, FilterResult, FilterType, RequestContext, Runtime } from "./filter.ts";
export {
  type BackchannelOptions,
  type BackchannelRequest,
  backchannelAuthenticate,
} from "./grants/backchannel-authentication.ts";
export type { ClientAuthentication } from "./grants/client-authentication.ts";
export {
  type DeviceGrantOptions,
  type DevicePrompt,
  type DeviceTokens,
  deviceGrant,
} from "./grants/device-grant.ts";
export type { GrantConfiguration, GrantOptions } from "./grants/grant-settings.ts";
export type { TokenSet } from "./grants/oauth-client.ts";
export type { PollingOptions, UserTokens } from "./grants/polled-tokens.ts";
export {
  clientCredentials,
  type RefreshOptions,
  refreshingTokens,
  type TokenSource,
} from "./grants/token-source.ts";
export {
  createLedgerProofs,
  type LedgerProofOptions,
  type LedgerProofs,
  type ProvableToken,
  type UnprovenToken,
} from "./ledger/ledger-proofs.ts";
export type { OAuthFederatedOptions } from "./oauth-federated/federated-context.ts";
export { oauthFederated } from "./oauth-federated/oauth-federated.ts";
export {
  createDpopNonces,
  createReplayMemory,
  type DpopNonceOptions,
  type DpopNonces,
  type ReplayMemory,
  type ReplayMemoryOptions,
} from "./oauth-user-bearer/dpop-nonces.ts";
export { type OAuthUserBearerOptions, oauthUserBearer } from "./oauth-user-bearer/oauth-user-bearer.ts";
export type { ResourceMetadata } from "./oauth-user-bearer/resource-metadata.ts";
export { type RequiredAuthentication, requireAuthentication } from "./oauth-user-bearer/step-up.ts";
export type { SenderConstraint } from "./oauth-user-bearer/token-binding.ts";
export { requireScopes } from "./oauth-user-bearer/unauthorized-response.ts";
export {
  type AuthenticatedBy,
  type Principal,
  principalOf,
  requirePrincipal,
  type User,
} from "./principal.ts";
export {
  createProvider,
  type Provider,
  type ProviderMetadata,
  type ProviderOptions,
} from "./provider/discovery.ts";
export {
  createHttp,
  type Http,
  type HttpAnswer,
  type HttpOptions,
  type HttpRequest,
} from "./provider/http.ts";
export type { KeySet } from "./provider/key-set.ts";
export { requireUser, type UserWith } from "./require-user.ts";
export type { Dpop, ProvenRequest } from "./security-profile/dpop.ts";
export type { FrontPage } from "./sign-in/built-in-pages.ts";
export { createLogoutMemory, type LogoutMemory } from "./sign-in/logout-memory.ts";
export type { SignInOptions } from "./sign-in/sign-in.ts";
export { createSovereignKeySource, type SovereignKeySettings } from "./sovereign/sovereign-key-source.ts";
export type { SystemAccountKeys } from "./system-account/hmac.ts";
export {
  type SignatureOptions,
  type SignedPart,
  signatureHeaders,
  signRequest,
} from "./system-account/sign-request.ts";
export {
  type SystemAccountExternalOptions,
  systemAccountExternal,
} from "./system-account/system-account-external.ts";
export {
  createNonceMemory,
  createRequestVerifier,
  type NonceMemory,
  type ReceiverOptions,
  type RequestVerifier,
  type VerifiedCaller,
} from "./system-account/verify-request.ts";
export { type AccessTokenChecks, verifyAccessToken } from "./tokens/access-token.ts";
export type { Claims, SubjectClaims } from "./tokens/claims.ts";
export { type IdTokenChecks, verifyIdToken } from "./tokens/id-token.ts";
export type { KeySource, TokenKeyHeader } from "./tokens/verify-jwt.ts";
export { type UserFederatedOptions, userFederated } from "./user-federated/user-federated.ts";
