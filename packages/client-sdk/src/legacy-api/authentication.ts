/** Signing in and out with the application's own forms, registration and recovery, and the actions of links in emails. */
import type { CallOptions, TypedClient } from "../service-api/typed-client.ts";
import type { LegacyCalls } from "./legacy-types.ts";

const BASE = "/legacy/api/Authentication";

type Login = LegacyCalls["POST /legacy/api/Authentication/User/Login"];
type Register = LegacyCalls["POST /legacy/api/Authentication/User/Register"];
type Roaming = LegacyCalls["POST /legacy/api/Authentication/User/Roaming/Register"];
type Identity = LegacyCalls["GET /legacy/api/Authentication/Account/VerifyIdentity/{key}"];

/** Signing in and out, registration and recovery. */
export interface LegacyAuthentication {
  /**
   * Returns a session key. `problem.code` is `two-factor-required` if the user has a second factor: ask for the code and call
   * again.
   * @param applicationId default: the system account's application
   */
  login(credentials: Login["body"], applicationId?: string, options?: CallOptions): Promise<Login["answer"]>;
  /** Ends the key and the session it was created in; with `everywhere` all sessions, keys and tokens of the user. */
  logout(key: string, options?: CallOptions & { readonly everywhere?: boolean }): Promise<void>;
  /** Same response whether or not the address is taken. The account is created when the link in the email is used. */
  register(user: Register["body"], options?: CallOptions): Promise<Register["answer"]>;
  /** Registers in the named organisation, which must be the caller's. */
  registerIn(
    organisationId: string,
    user: Register["body"],
    options?: CallOptions,
  ): Promise<Register["answer"]>;
  /** Invites a user of another organisation by email to join the caller's. */
  registerRoaming(user: Roaming["body"], options?: CallOptions): Promise<Roaming["answer"]>;
  /** Emails a link to set a new password. Same response for every address. */
  resetPassword(email: string, options?: CallOptions): Promise<{ Message: string }>;
  /** Returns the user of a key, and how they authenticated. */
  verifyIdentity(key: string, options?: CallOptions): Promise<Identity["answer"]>;
}

export function legacyAuthentication({ call }: TypedClient<LegacyCalls>): LegacyAuthentication {
  return {
    login: (body, appId, options) =>
      appId === undefined
        ? call(`POST ${BASE}/User/Login`, { body }, options)
        : call(`POST ${BASE}/User/Login/{appId}`, { path: { appId }, body }, options),
    logout: (Key, { everywhere = false, ...options } = {}) =>
      everywhere
        ? call(
            `POST ${BASE}/User/Logout/{everywhere}`,
            { path: { everywhere: "everywhere" }, body: { Key } },
            options,
          )
        : call(`POST ${BASE}/User/Logout`, { body: { Key } }, options),
    register: (body, options) => call(`POST ${BASE}/User/Register`, { body }, options),
    registerIn: (publicId, body, options) =>
      call(`POST ${BASE}/Organisation/{publicId}/Register/Account`, { path: { publicId }, body }, options),
    registerRoaming: (body, options) => call(`POST ${BASE}/User/Roaming/Register`, { body }, options),
    resetPassword: (email, options) =>
      call(`POST ${BASE}/User/{email}/PasswordReset`, { path: { email } }, options),
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
  /** Confirms the email address of a registration. */
  completeRegistration(key: string, options?: CallOptions): Promise<Completed>;
}

/** A retry after a lost response would only report that the link was used. */
const singleUse = { isRepeatable: false } as const;

export function legacyActions({ call }: TypedClient<LegacyCalls>): LegacyActions {
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
