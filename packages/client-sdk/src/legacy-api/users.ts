/** Users of the organisation, what an application keeps about them, and where they are signed in. */
import type { ItemList } from "../service-api/item-list.ts";
import type { CallOptions, ListOptions, TypedClient } from "../service-api/typed-client.ts";
import type { LegacyCalls } from "./legacy-calls.ts";
import type { LegacyUser, ServiceSession } from "./legacy-records.ts";

/** What an application keeps about a user: JSON of its own. */
export type UserSettings = Record<string, unknown>;

/** Users, and what an application keeps about them. */
export interface LegacyUsers {
  /** A member of the organisation by address. `problem.code` is `not-found` for nobody. */
  get(email: string, options?: CallOptions): Promise<LegacyUser>;
  /** The holder of a session key. */
  profile(applicationId: string, key: string, options?: CallOptions): Promise<LegacyUser>;
  /** The same, with what the application keeps about the user. */
  profileWithSettings(
    applicationId: string,
    key: string,
    options?: CallOptions,
  ): Promise<LegacyUser & { Settings: UserSettings }>;
  /** Replaces what the application keeps about the user, at most 16 KiB of JSON; signed. */
  replaceSettings(
    applicationId: string,
    key: string,
    settings: UserSettings,
    options?: CallOptions,
  ): Promise<UserSettings>;
  /** Living session keys of a user, of the applications that the caller may act for. */
  sessions(permId: string, options?: ListOptions): ItemList<ServiceSession>;
  /** Whether nobody of the organisation has this username. Rate limited. */
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
