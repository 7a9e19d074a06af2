/** Scopes that a client is allowed ahead of any request: nobody is asked. */
import type { ItemList } from "../service-api/item-list.ts";
import type { CallOptions, ListOptions, TypedClient } from "../service-api/typed-client.ts";
import type { ManagementCalls } from "./management-calls.ts";
import type { Preauthorization } from "./management-records.ts";
import { type RepeatOptions, repeatable } from "./versions.ts";

type NewPreauthorization = ManagementCalls["POST /legacy/api/oauth/preauthorizations"]["body"];

/** Scopes that clients are allowed ahead of any request. */
export interface ManagedPreauthorizations {
  /** Oldest first. */
  list(filter?: { readonly clientId?: string }, options?: ListOptions): ItemList<Preauthorization>;
  /** One of them, by its id. */
  get(id: string, options?: CallOptions): Promise<Preauthorization>;
  /** For all users of one client: none of them is asked for these scopes. */
  create(preauthorization: NewPreauthorization, options?: RepeatOptions): Promise<Preauthorization>;
  /** The refresh tokens that rest on it end at once. */
  delete(id: string, options?: CallOptions): Promise<void>;
}

const ALL = "/legacy/api/oauth/preauthorizations";
const ONE = `${ALL}/{id}` as const;

export function managedPreauthorizations({
  call,
  list,
}: TypedClient<ManagementCalls>): ManagedPreauthorizations {
  return {
    list: (query = {}, options) => list(`GET ${ALL}`, { query }, options),
    get: async (id, options) => (await call(`GET ${ONE}`, { path: { id } }, options)).body,
    create: async (body, options = {}) =>
      (await call(`POST ${ALL}`, { body, ...repeatable(options) }, options)).body,
    delete: async (id, options) => {
      await call(`DELETE ${ONE}`, { path: { id } }, options);
    },
  };
}
