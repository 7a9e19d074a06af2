/** Signing users in and out by an application of their own, registering them, and looking at who holds a key. */
import type { CallOptions, TypedClient } from "../service-api/typed-client.ts";
import type { LegacyCalls } from "./legacy-calls.ts";

const BASE = "/legacy/api/Authentication";

type Login = LegacyCalls["POST /legacy/api/Authentication/User/Login"];
type Register = LegacyCalls["POST /legacy/api/Authentication/User/Register"];
type Roaming = LegacyCalls["POST /legacy/api/Authentication/User/Roaming/Register"];
type Identity = LegacyCalls["GET /legacy/api/Authentication/Account/VerifyIdentity/{key}"];

/** Signing in and out, registration, recovery. */
export interface LegacyAuthentication {
  /**
   * A session key for address and password. `problem.code` is `two-factor-required` when the user has a second factor: ask for
   * the code and call again.
   *
   * @param applicationId default: the system account's own
   */
  login(credentials: Login["body"], applicationId?: string, options?: CallOptions): Promise<Login["answer"]>;
  /** Ends the key and the session that it was made in; with `everywhere` all sessions, keys and tokens of the user. */
  logout(key: string, options?: CallOptions & { readonly everywhere?: boolean }): Promise<void>;
  /** The same answer whether or not the address is taken; there is no account before the link of the mail is used. */
  register(user: Register["body"], options?: CallOptions): Promise<Register["answer"]>;
  /** The same in the organisation that is named, which is the caller's. */
  registerIn(
    organisationId: string,
    user: Register["body"],
    options?: CallOptions,
  ): Promise<Register["answer"]>;
  /** Asks a user of another organisation, by mail, to become a member of the caller's. */
  registerRoaming(user: Roaming["body"], options?: CallOptions): Promise<Roaming["answer"]>;
  /** Sends a link to set a new password; the same answer for every address. */
  resetPassword(email: string, options?: CallOptions): Promise<{ Message: string }>;
  /** Who holds a key, and how they proved who they are. */
  verifyIdentity(key: string, options?: CallOptions): Promise<Identity["answer"]>;
}

export function legacyAuthentication(calls: TypedClient<LegacyCalls>): LegacyAuthentication {
  const { call } = calls;
  return {
    login: async (body, applicationId, options) => {
      if (applicationId === undefined) return (await call(`POST ${BASE}/User/Login`, { body }, options)).body;
      const path = { appId: applicationId };
      return (await call(`POST ${BASE}/User/Login/{appId}`, { path, body }, options)).body;
    },
    logout: async (Key, { everywhere = false, ...options } = {}) => {
      const body = { Key };
      if (!everywhere) await call(`POST ${BASE}/User/Logout`, { body }, options);
      else {
        const path = { everywhere: "everywhere" };
        await call(`POST ${BASE}/User/Logout/{everywhere}`, { path, body }, options);
      }
    },
    ...registration(calls),
    verifyIdentity: async (key, options) =>
      (await call(`GET ${BASE}/Account/VerifyIdentity/{key}`, { path: { key } }, options)).body,
  };
}

function registration({
  call,
}: TypedClient<LegacyCalls>): Pick<
  LegacyAuthentication,
  "register" | "registerIn" | "registerRoaming" | "resetPassword"
> {
  return {
    register: async (body, options) => (await call(`POST ${BASE}/User/Register`, { body }, options)).body,
    registerIn: async (publicId, body, options) => {
      const given = { path: { publicId }, body };
      return (await call(`POST ${BASE}/Organisation/{publicId}/Register/Account`, given, options)).body;
    },
    registerRoaming: async (body, options) =>
      (await call(`POST ${BASE}/User/Roaming/Register`, { body }, options)).body,
    resetPassword: async (email, options) =>
      (await call(`POST ${BASE}/User/{email}/PasswordReset`, { path: { email } }, options)).body,
  };
}
