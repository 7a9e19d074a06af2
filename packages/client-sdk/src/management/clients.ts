/** OAuth clients, which are the organisation's applications; their secrets; the users assigned to them. */
import type { ItemList } from "../service-api/item-list.ts";
import type { CallOptions, ListOptions, TypedClient } from "../service-api/typed-client.ts";
import type { ManagementCalls } from "./management-calls.ts";
import type {
  AssignedUser,
  ChangedClient,
  Client,
  CreatedClient,
  CreatedClientSecret,
  NewClient,
} from "./management-records.ts";
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

type Rotation = NonNullable<
  ManagementCalls["POST /legacy/api/oauth/clients/{clientId}/rotate-secret"]["body"]
>;

/** OAuth clients of the organisation, their secrets, and the users assigned to them. */
export interface ManagedClients {
  /** All of them, oldest first. */
  list(options?: ListOptions): ItemList<Client>;
  /** With the `etag` that `replace` goes by. */
  get(clientId: string, options?: CallOptions): Promise<Versioned<Client>>;
  /**
   * `clientSecret` is the first secret of a confidential client, shown this once: null when the answer that had it was lost on
   * the way, and `rotateSecret` gives another one.
   */
  create(client: NewClient, options?: RepeatOptions): Promise<Versioned<CreatedClient>>;
  /** What is left out, or null, gets its default again. With the `etag` that it was read with, only if nobody was faster. */
  replace(
    clientId: string,
    client: Replacement<ChangedClient>,
    options?: CallOptions,
  ): Promise<Versioned<Client>>;
  /** Reads, changes and replaces; again when somebody else was faster. */
  update(
    clientId: string,
    change: (client: Versioned<Client>) => Replacement<ChangedClient> | Promise<Replacement<ChangedClient>>,
    options?: CallOptions,
  ): Promise<Versioned<Client>>;
  /** For good, with its tokens, codes, consents and session keys. */
  delete(clientId: string, options?: DeleteOptions): Promise<void>;
  /** Another secret, shown this once; the old ones work on, unless `expireOthersInSeconds` says when they end. */
  rotateSecret(clientId: string, rotation?: Rotation, options?: RepeatOptions): Promise<CreatedClientSecret>;
  /**
   * Ends one secret at once.
   *
   * @param secretId all active ones but the newest, when left out
   */
  revokeOldSecret(clientId: string, secretId?: string, options?: RepeatOptions): Promise<void>;
  /** Who may use a client whose `access` is `assigned`. */
  assignedUsers(clientId: string, options?: ListOptions): ItemList<AssignedUser>;
  /** Lets a user in. */
  assignUser(clientId: string, permId: string, options?: CallOptions): Promise<void>;
  /** Lets a user in no more. */
  unassignUser(clientId: string, permId: string, options?: CallOptions): Promise<void>;
}

const ALL = "/legacy/api/oauth/clients";
const ONE = `${ALL}/{clientId}` as const;

export function managedClients(calls: TypedClient<ManagementCalls>): ManagedClients {
  const { call, list } = calls;
  const get: ManagedClients["get"] = async (clientId, options) =>
    versioned(await call(`GET ${ONE}`, { path: { clientId } }, options));
  const replace: ManagedClients["replace"] = async (clientId, client, options) =>
    versioned(await call(`PUT ${ONE}`, { path: { clientId }, ...replacing(client) }, options));
  return {
    list: (options) => list(`GET ${ALL}`, {}, options),
    get,
    create: async (body, options = {}) =>
      versioned(await call(`POST ${ALL}`, { body, ...repeatable(options) }, options)),
    replace,
    update: updating(get, replace),
    delete: async (clientId, options = {}) => {
      await call(`DELETE ${ONE}`, { path: { clientId }, headers: matching(options.etag) }, options);
    },
    ...secrets(calls),
    ...assignments(calls),
  };
}

function secrets({
  call,
}: TypedClient<ManagementCalls>): Pick<ManagedClients, "rotateSecret" | "revokeOldSecret"> {
  return {
    rotateSecret: async (clientId, body = {}, options = {}) => {
      const given = { path: { clientId }, body, ...repeatable(options) };
      return (await call(`POST ${ONE}/rotate-secret`, given, options)).body;
    },
    revokeOldSecret: async (clientId, secretId, options = {}) => {
      const body = secretId === undefined ? {} : { secretId };
      await call(
        `POST ${ONE}/revoke-old-secret`,
        { path: { clientId }, body, ...repeatable(options) },
        options,
      );
    },
  };
}

function assignments({
  call,
  list,
}: TypedClient<ManagementCalls>): Pick<ManagedClients, "assignedUsers" | "assignUser" | "unassignUser"> {
  return {
    assignedUsers: (clientId, options) => list(`GET ${ONE}/users`, { path: { clientId } }, options),
    assignUser: async (clientId, permId, options) => {
      await call(`PUT ${ONE}/users/{permId}`, { path: { clientId, permId } }, options);
    },
    unassignUser: async (clientId, permId, options) => {
      await call(`DELETE ${ONE}/users/{permId}`, { path: { clientId, permId } }, options);
    },
  };
}
