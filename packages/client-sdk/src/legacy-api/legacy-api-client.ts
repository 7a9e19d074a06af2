/** Client for the service's legacy API: users, session keys and applications of the legacy federation. */

import { createServiceClient, type ServiceOptions } from "../service-api/service-client.ts";
import { type ServiceConfiguration, serviceSettings } from "../service-api/service-settings.ts";
import {
  type CallOptions,
  type ItemList,
  type ListOptions,
  type TypedClient,
  typedClient,
} from "../service-api/typed-client.ts";
import {
  type LegacyActions,
  type LegacyAuthentication,
  legacyActions,
  legacyAuthentication,
} from "./authentication.ts";
import type {
  ConvertedSessionKey,
  LegacyApplication,
  LegacyCalls,
  LegacyUser,
  ServiceSession,
  ValidSessionKey,
} from "./legacy-types.ts";

/** What `legacyApiClient` returns. */
export interface LegacyApiClient {
  readonly authentication: LegacyAuthentication;
  readonly actions: LegacyActions;
  readonly users: LegacyUsers;
  readonly keys: LegacySessionKeys;
  readonly applications: LegacyApplications;
}

/**
 * Creates a client. With a system account's key pair, every call is signed in the strict form. Without it, only calls work whose
 * credential is a session key or a link, and only for applications that don't require signatures.
 *
 * Read-only calls are tried up to three times if the service is unavailable; others once, because the first may have arrived.
 * Refused calls throw `SignetError` with code `provider_refused` and a `problem`, e.g.
 * `error.problem?.code === "two-factor-required"`.
 * @param configuration `federationServer`, and the key pair of a system account
 * @throws SignetError `configuration`
 * @example
 * const legacy = legacyApiClient({ federationServer, systemAccountPublicKey, systemAccountSecretKey });
 * const user = await legacy.users.get("ada@example.com");
 */
export function legacyApiClient(
  configuration: ServiceConfiguration,
  options: ServiceOptions = {},
): LegacyApiClient {
  const settings = serviceSettings(configuration, { isSigned: false });
  const client = typedClient<LegacyCalls>(createServiceClient(settings, options));
  return {
    authentication: legacyAuthentication(client),
    actions: legacyActions(client),
    users: legacyUsers(client),
    keys: legacySessionKeys(client),
    applications: legacyApplications(client),
  };
}

/** An application's settings for a user: any JSON object. */
export type UserSettings = Record<string, unknown>;

/** Users, and their application settings. */
export interface LegacyUsers {
  /** A member of the organisation by email address. `problem.code` is `not-found` without a match. */
  get(email: string, options?: CallOptions): Promise<LegacyUser>;
  /** The user of a session key. */
  profile(applicationId: string, key: string, options?: CallOptions): Promise<LegacyUser>;
  /** The user of a session key, with the application's settings. */
  profileWithSettings(
    applicationId: string,
    key: string,
    options?: CallOptions,
  ): Promise<LegacyUser & { Settings: UserSettings }>;
  /** Replaces the application's settings for the user, at most 16 KiB of JSON. Must be signed. */
  replaceSettings(
    applicationId: string,
    key: string,
    settings: UserSettings,
    options?: CallOptions,
  ): Promise<UserSettings>;
  /** Active session keys of a user, for applications the caller may act for. */
  sessions(permId: string, options?: ListOptions): ItemList<ServiceSession>;
  /** Whether a username is available in the organisation. Rate-limited. */
  isUsernameAvailable(username: string, options?: CallOptions): Promise<boolean>;
}

const PROFILE = "/legacy/api/User/Profile/{appId}/{key}";

function legacyUsers({ call, list }: TypedClient<LegacyCalls>): LegacyUsers {
  return {
    get: (email, options) =>
      call("POST /legacy/api/users/get", { body: { email }, isRepeatable: true }, options),
    profile: (appId, key, options) => call(`GET ${PROFILE}`, { path: { appId, key } }, options),
    profileWithSettings: async (appId, key, options) => {
      const path = { appId, key, extendSetting: "extendSetting" };
      const profile = await call(`GET ${PROFILE}/{extendSetting}`, { path }, options);
      return { ...profile, Settings: profile.Settings ?? {} };
    },
    replaceSettings: async (appId, key, Settings, options) =>
      (await call(`PUT ${PROFILE}`, { path: { appId, key }, body: { Settings } }, options)).Settings,
    sessions: (userId, options) =>
      list("GET /legacy/api/User/{userId}/ServiceSessions", { path: { userId } }, options),
    isUsernameAvailable: async (username, options) =>
      (await call("GET /legacy/api/User/Username/Available/{username}", { path: { username } }, options))
        .Available,
  };
}

type Permission = LegacyCalls["GET /legacy/api/Keys/User/{key}/Permission/{appId}"]["answer"];

/** Validates and converts session keys. */
export interface LegacySessionKeys {
  /**
   * Returns the key's user. Check the `ApplicationId`: a key of another application is valid too but proves no sign-in to yours.
   * `problem.status` is 401 for an unknown, expired or revoked key.
   */
  validate(key: string, options?: CallOptions): Promise<ValidSessionKey>;
  /** Returns a key valid for 15 minutes, to be passed to another application. */
  toTemporary(key: string, options?: CallOptions): Promise<ConvertedSessionKey>;
  /** Returns a key valid until revoked, if the application allows it. */
  toPermanent(key: string, options?: CallOptions): Promise<ConvertedSessionKey>;
  /** Returns whether the key's user may use an application of the organisation, and their role. */
  permission(key: string, applicationId: string, options?: CallOptions): Promise<Permission>;
}

const KEY = "/legacy/api/Keys/User/{key}";

function legacySessionKeys({ call }: TypedClient<LegacyCalls>): LegacySessionKeys {
  return {
    validate: (key, options) => call(`GET ${KEY}`, { path: { key } }, options),
    toTemporary: (key, options) => call(`POST ${KEY}/Convert/To/UserTemp`, { path: { key } }, options),
    toPermanent: (key, options) => call(`POST ${KEY}/Convert/To/UserPerm`, { path: { key } }, options),
    permission: (key, appId, options) =>
      call(`GET ${KEY}/Permission/{appId}`, { path: { key, appId } }, options),
  };
}

/** Lists of applications. */
export interface LegacyApplications {
  /** Applications of the caller's organisation. */
  list(options?: ListOptions): ItemList<LegacyApplication>;
  /** Applications the caller may act for. */
  accessible(options?: ListOptions): ItemList<LegacyApplication>;
  /** Applications of an organisation, which must be the caller's, on behalf of an application. */
  ofOrganisation(
    applicationId: string,
    organisationId: string,
    options?: ListOptions,
  ): ItemList<LegacyApplication>;
}

function legacyApplications({ list }: TypedClient<LegacyCalls>): LegacyApplications {
  return {
    list: (options) => list("GET /legacy/api/Organisation/Application/List", {}, options),
    accessible: (options) => list("GET /legacy/api/Organisation/External/Application/List", {}, options),
    ofOrganisation: (appId, publicId, options) =>
      list(
        "GET /legacy/api/Organisations/{appId}/{publicId}/application/list",
        { path: { appId, publicId } },
        options,
      ),
  };
}
