/** What the links of mails are for: confirming an address, a new password, an invitation. The link's id is the credential. */
import type { CallOptions, TypedClient } from "../service-api/typed-client.ts";
import type { LegacyCalls } from "./legacy-calls.ts";

const ONE = "/legacy/api/Authentication/Action/{id}/{type}";

type Completed = LegacyCalls["GET /legacy/api/Authentication/Action/{id}/{type}"]["answer"];
type Requirement = LegacyCalls["GET /legacy/api/Authentication/Action/{id}/{type}/Requirement"]["answer"];

/** What the links of mails are for. */
export interface LegacyActions {
  /** What completing it needs; changes nothing. */
  requirement(id: string, type: Completed["Type"], options?: CallOptions): Promise<Requirement>;
  /**
   * Completes it, once. `problem.status` is 404 for a link that is unknown or was used, and 410 for one that is too old.
   *
   * @param input where `requirement` names `NewPassword`
   */
  complete(
    id: string,
    type: Completed["Type"],
    input?: { readonly NewPassword: string },
    options?: CallOptions,
  ): Promise<Completed>;
  /** Confirms the address of a registration. */
  completeRegistration(key: string, options?: CallOptions): Promise<Completed>;
}

/** Single use: made again after a lost answer, a call would only tell that the link was used. */
const once = { isRepeatable: false } as const;

export function legacyActions({ call }: TypedClient<LegacyCalls>): LegacyActions {
  return {
    requirement: async (id, type, options) =>
      (await call(`GET ${ONE}/Requirement`, { path: { id, type } }, options)).body,
    complete: async (id, type, body, options) => {
      const path = { id, type };
      const answer =
        body === undefined
          ? await call(`GET ${ONE}`, { path, ...once }, options)
          : await call(`POST ${ONE}`, { path, body }, options);
      return answer.body;
    },
    completeRegistration: async (key, options) => {
      const route = "GET /legacy/api/Authentication/User/Register/Complete/{key}";
      return (await call(route, { path: { key }, ...once }, options)).body;
    },
  };
}
