/** Users of the organisation, their application settings and sessions. */
import type { ItemList } from "../service-api/item-list.ts";
import type { CallOptions, ListOptions, TypedClient } from "../service-api/typed-client.ts";
import type { LegacyCalls } from "./legacy-calls.ts";
import type { LegacyUser, ServiceSession } from "./legacy-records.ts";

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

export function legacyUsers({ call, list }: TypedClient<LegacyCalls>): LegacyUsers {
  return {
    get: async (email, options) =>
      (await call("POST /legacy/api/users/get", { body: { email }, isRepeatable: true }, options)).body,
    profile: async (appId, key, options) =>
      (await call(`GET ${PROFILE}`, { path: { appId, key } }, options)).body,
    profileWithSettings: async (appId, key, options) => {
      const path = { appId, key, extendSetting: "extendSetting" };
      const { body } = await call(`GET ${PROFILE}/{extendSetting}`, { path }, options);
      return { ...body, Settings: body.Settings ?? {} };
    },
    replaceSettings: async (appId, key, Settings, options) =>
      (await call(`PUT ${PROFILE}`, { path: { appId, key }, body: { Settings } }, options)).body.Settings,
    sessions: (userId, options) =>
      list("GET /legacy/api/User/{userId}/ServiceSessions", { path: { userId } }, options),
    isUsernameAvailable: async (username, options) => {
      const route = "GET /legacy/api/User/Username/Available/{username}";
      return (await call(route, { path: { username } }, options)).body.Available;
    },
  };
}
