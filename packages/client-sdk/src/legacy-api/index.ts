/**
 * Client for the service's legacy API: signing users in and out, registration, recovery, profiles, session keys. Start with
 * `legacyApiClient`.
 *
 * @module legacy-api
 */

export type { ServiceOptions } from "../service-api/service-client.ts";
export type { ServiceConfiguration } from "../service-api/service-settings.ts";
export type { CallOptions, ItemList, ListOptions, Page } from "../service-api/typed-client.ts";
export {
  type EndUserOptions,
  type LegacyActions,
  type LegacyApiClient,
  type LegacyApplications,
  type LegacyAuthentication,
  type LegacySessionKeys,
  type LegacyUsers,
  legacyApiClient,
  type UserSettings,
} from "./legacy-api-client.ts";
export type {
  ConvertedSessionKey,
  LegacyApplication,
  LegacyUser,
  ServiceSession,
  ValidSessionKey,
} from "./legacy-records.ts";
