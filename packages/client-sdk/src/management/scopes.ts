/** Custom scopes of the organisation, and the claims that they carry. */
import type { ItemList } from "../service-api/item-list.ts";
import type { CallOptions, ListOptions, TypedClient } from "../service-api/typed-client.ts";
import type { ManagementCalls } from "./management-calls.ts";
import type { ChangedScope, NewScope, Scope } from "./management-records.ts";
import {
  type DeleteOptions,
  matching,
  type RepeatOptions,
  type Replacement,
  repeatable,
  replacing,
  updating,
  type Versioned,
  versioned,
} from "./versions.ts";

/** Custom scopes of the organisation. */
export interface ManagedScopes {
  /** The custom scopes, oldest first. */
  list(options?: ListOptions): ItemList<Scope>;
  /** With the `etag` that `replace` goes by. */
  get(id: string, options?: CallOptions): Promise<Versioned<Scope>>;
  /** A scope with claims of its own. */
  create(scope: NewScope, options?: RepeatOptions): Promise<Versioned<Scope>>;
  /** What is left out, or null, gets its default again; the name stays. */
  replace(id: string, scope: Replacement<ChangedScope>, options?: CallOptions): Promise<Versioned<Scope>>;
  /** Reads, changes and replaces; again when somebody else was faster. */
  update(
    id: string,
    change: (scope: Versioned<Scope>) => Replacement<ChangedScope> | Promise<Replacement<ChangedScope>>,
    options?: CallOptions,
  ): Promise<Versioned<Scope>>;
  /** For good; tokens that have it already keep it. */
  delete(id: string, options?: DeleteOptions): Promise<void>;
}

const ALL = "/legacy/api/oauth/scopes";
const ONE = `${ALL}/{id}` as const;

export function managedScopes({ call, list }: TypedClient<ManagementCalls>): ManagedScopes {
  const get: ManagedScopes["get"] = async (id, options) =>
    versioned(await call(`GET ${ONE}`, { path: { id } }, options));
  const replace: ManagedScopes["replace"] = async (id, scope, options) =>
    versioned(await call(`PUT ${ONE}`, { path: { id }, ...replacing(scope) }, options));
  return {
    list: (options) => list(`GET ${ALL}`, {}, options),
    get,
    create: async (body, options = {}) =>
      versioned(await call(`POST ${ALL}`, { body, ...repeatable(options) }, options)),
    replace,
    update: updating(get, replace),
    delete: async (id, options = {}) => {
      await call(`DELETE ${ONE}`, { path: { id }, headers: matching(options.etag) }, options);
    },
  };
}
