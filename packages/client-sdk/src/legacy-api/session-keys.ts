/** Session keys: whose they are, what they are good for, and other ones in their place. */
import type { CallOptions, TypedClient } from "../service-api/typed-client.ts";
import type { LegacyCalls } from "./legacy-calls.ts";
import type { ConvertedSessionKey, ValidSessionKey } from "./legacy-records.ts";

type Permission = LegacyCalls["GET /legacy/api/Keys/User/{key}/Permission/{appId}"]["answer"];

/** Session keys: whose they are, and other ones in their place. */
export interface LegacySessionKeys {
  /**
   * Whose key it is. Look at `ApplicationId` of the answer: a key of another application is good too, and proves nothing to
   * yours. `problem.status` is 401 for a key that is unknown, expired or revoked.
   */
  validate(key: string, options?: CallOptions): Promise<ValidSessionKey>;
  /** A key of 15 minutes, to be handed to another application. */
  toTemporary(key: string, options?: CallOptions): Promise<ConvertedSessionKey>;
  /** A key until it is revoked, where the application allows such. */
  toPermanent(key: string, options?: CallOptions): Promise<ConvertedSessionKey>;
  /** Whether the key's user may use an application of the organisation, and their role. */
  permission(key: string, applicationId: string, options?: CallOptions): Promise<Permission>;
}

const ONE = "/legacy/api/Keys/User/{key}";

export function legacySessionKeys({ call }: TypedClient<LegacyCalls>): LegacySessionKeys {
  return {
    validate: async (key, options) => (await call(`GET ${ONE}`, { path: { key } }, options)).body,
    toTemporary: async (key, options) =>
      (await call(`POST ${ONE}/Convert/To/UserTemp`, { path: { key } }, options)).body,
    toPermanent: async (key, options) =>
      (await call(`POST ${ONE}/Convert/To/UserPerm`, { path: { key } }, options)).body,
    permission: async (key, appId, options) =>
      (await call(`GET ${ONE}/Permission/{appId}`, { path: { key, appId } }, options)).body,
  };
}
