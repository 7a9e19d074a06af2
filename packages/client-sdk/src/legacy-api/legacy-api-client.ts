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
import type { LegacyCalls } from "./legacy-calls.ts";
import type {
  ConvertedSessionKey,
  LegacyApplication,
  LegacyUser,
  ServiceSession,
  ValidSessionKey,
} from "./legacy-records.ts";

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

const BASE = "/legacy/api/Authentication";

type Login = LegacyCalls["POST /legacy/api/Authentication/User/Login"];
type Register = LegacyCalls["POST /legacy/api/Authentication/User/Register"];
type Roaming = LegacyCalls["POST /legacy/api/Authentication/User/Roaming/Register"];
type Identity = LegacyCalls["GET /legacy/api/Authentication/Account/VerifyIdentity/{key}"];

/** Options of calls for a user who is not signed in yet. */
export interface EndUserOptions extends CallOptions {
  /**
   * The user's IP address, as the backend sees it: limits then count for the user's network, not for the application. Ignored
   * by the service unless the system account may tell it (`allowEndUserAddress`).
   */
  readonly endUserAddress?: string | undefined;
}

const endUser = ({ endUserAddress }: EndUserOptions = {}) =>
  endUserAddress === undefined ? {} : { headers: { "x-end-user-address": endUserAddress } };

/** Signing in and out, registration and recovery. */
export interface LegacyAuthentication {
  /**
   * Returns a session key. `problem.code` is `two-factor-required` if the user has a second factor: ask for the code and call
   * again.
   * @param applicationId default: the system account's application
   */
  login(
    credentials: Login["body"],
    applicationId?: string,
    options?: EndUserOptions,
  ): Promise<Login["answer"]>;
  /** Ends the key and the session it was created in; with `everywhere` all sessions, keys and tokens of the user. */
  logout(key: string, options?: CallOptions & { readonly everywhere?: boolean }): Promise<void>;
  /** Same response whether or not the address is taken. The account is created when the link in the email is used. */
  register(user: Register["body"], options?: EndUserOptions): Promise<Register["answer"]>;
  /** Registers in the named organisation, which must be the caller's. */
  registerIn(
    organisationId: string,
    user: Register["body"],
    options?: EndUserOptions,
  ): Promise<Register["answer"]>;
  /** Invites a user of another organisation by email to join the caller's. */
  registerRoaming(user: Roaming["body"], options?: EndUserOptions): Promise<Roaming["answer"]>;
  /** Emails a link to set a new password. Same response for every address. */
  resetPassword(email: string, options?: EndUserOptions): Promise<{ Message: string }>;
  /** Returns the user of a key, and how they authenticated. */
  verifyIdentity(key: string, options?: CallOptions): Promise<Identity["answer"]>;
}

function legacyAuthentication({ call }: TypedClient<LegacyCalls>): LegacyAuthentication {
  return {
    login: (body, appId, options) =>
      appId === undefined
        ? call(`POST ${BASE}/User/Login`, { body, ...endUser(options) }, options)
        : call(`POST ${BASE}/User/Login/{appId}`, { path: { appId }, body, ...endUser(options) }, options),
    logout: (Key, { everywhere = false, ...options } = {}) =>
      everywhere
        ? call(
            `POST ${BASE}/User/Logout/{everywhere}`,
            { path: { everywhere: "everywhere" }, body: { Key } },
            options,
          )
        : call(`POST ${BASE}/User/Logout`, { body: { Key } }, options),
    register: (body, options) => call(`POST ${BASE}/User/Register`, { body, ...endUser(options) }, options),
    registerIn: (publicId, body, options) =>
      call(
        `POST ${BASE}/Organisation/{publicId}/Register/Account`,
        { path: { publicId }, body, ...endUser(options) },
        options,
      ),
    registerRoaming: (body, options) =>
      call(`POST ${BASE}/User/Roaming/Register`, { body, ...endUser(options) }, options),
    resetPassword: (email, options) =>
      call(`POST ${BASE}/User/{email}/PasswordReset`, { path: { email }, ...endUser(options) }, options),
    verifyIdentity: (key, options) =>
      call(`GET ${BASE}/Account/VerifyIdentity/{key}`, { path: { key } }, options),
  };
}

const ACTION = `${BASE}/Action/{id}/{type}` as const;

type Completed = LegacyCalls["GET /legacy/api/Authentication/Action/{id}/{type}"]["answer"];
type Requirement = LegacyCalls["GET /legacy/api/Authentication/Action/{id}/{type}/Requirement"]["answer"];

/** Actions of links in emails. */
export interface LegacyActions {
  /** Returns what completing the action requires, without changing anything. */
  requirement(id: string, type: Completed["Type"], options?: CallOptions): Promise<Requirement>;
  /**
   * Completes the action. `problem.status` is 404 for an unknown or used link, and 410 for an expired one.
   * @param input if `requirement` names `NewPassword`
   */
  complete(
    id: string,
    type: Completed["Type"],
    input?: { readonly NewPassword: string },
    options?: CallOptions,
  ): Promise<Completed>;
  /**
   * Confirms the email address of a registration; the account has the password of that registration. Anybody can register
   * anybody's address: where you don't know that the owner of the mailbox has chosen that password, ask for one and call
   * `complete(key, "VerifyEmail", { NewPassword })` instead.
   */
  completeRegistration(key: string, options?: CallOptions): Promise<Completed>;
}

/** A retry after a lost response would only report that the link was used. */
const singleUse = { isRepeatable: false } as const;

function legacyActions({ call }: TypedClient<LegacyCalls>): LegacyActions {
  return {
    requirement: (id, type, options) => call(`GET ${ACTION}/Requirement`, { path: { id, type } }, options),
    complete: (id, type, body, options) =>
      body === undefined
        ? call(`GET ${ACTION}`, { path: { id, type }, ...singleUse }, options)
        : call(`POST ${ACTION}`, { path: { id, type }, body }, options),
    completeRegistration: (key, options) =>
      call(`GET ${BASE}/User/Register/Complete/{key}`, { path: { key }, ...singleUse }, options),
  };
}
