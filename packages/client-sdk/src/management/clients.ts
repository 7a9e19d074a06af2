/** OAuth clients (the organisation's applications), their secrets, and their assigned users. */
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
  type RepeatOptions,
  repeatable,
  type VersionedRecords,
  versionedRecords,
} from "./versioned-records.ts";

type Rotation = NonNullable<
  ManagementCalls["POST /legacy/api/oauth/clients/{clientId}/rotate-secret"]["body"]
>;

/** OAuth clients of the organisation, their secrets, and their assigned users. */
export interface ManagedClients extends VersionedRecords<Client, CreatedClient, NewClient, ChangedClient> {
  /** Also deletes the client's tokens, codes, consents and session keys. */
  delete(clientId: string, options?: DeleteOptions): Promise<void>;
  /** Adds a secret, shown only once. The old ones stay active unless `expireOthersInSeconds` is set. */
  rotateSecret(clientId: string, rotation?: Rotation, options?: RepeatOptions): Promise<CreatedClientSecret>;
  /** Revokes one secret immediately. @param secretId default: all active ones except the newest */
  revokeOldSecret(clientId: string, secretId?: string, options?: RepeatOptions): Promise<void>;
  /** Users allowed to use a client whose `access` is `assigned`. */
  assignedUsers(clientId: string, options?: ListOptions): ItemList<AssignedUser>;
  /** Assigns a user. */
  assignUser(clientId: string, permId: string, options?: CallOptions): Promise<void>;
  /** Unassigns a user. */
  unassignUser(clientId: string, permId: string, options?: CallOptions): Promise<void>;
}

const CLIENTS = "/legacy/api/oauth/clients";
const CLIENT = `${CLIENTS}/{clientId}` as const;

export function managedClients(client: TypedClient<ManagementCalls>): ManagedClients {
  const { call, list } = client;
  return {
    ...versionedRecords(client, CLIENTS),
    rotateSecret: async (clientId, body = {}, options = {}) => {
      const input = { path: { clientId }, body, ...repeatable(options) };
      return (await call(`POST ${CLIENT}/rotate-secret`, input, options)).body;
    },
    revokeOldSecret: async (clientId, secretId, options = {}) => {
      const body = secretId === undefined ? {} : { secretId };
      const input = { path: { clientId }, body, ...repeatable(options) };
      await call(`POST ${CLIENT}/revoke-old-secret`, input, options);
    },
    assignedUsers: (clientId, options) => list(`GET ${CLIENT}/users`, { path: { clientId } }, options),
    assignUser: async (clientId, permId, options) => {
      await call(`PUT ${CLIENT}/users/{permId}`, { path: { clientId, permId } }, options);
    },
    unassignUser: async (clientId, permId, options) => {
      await call(`DELETE ${CLIENT}/users/{permId}`, { path: { clientId, permId } }, options);
    },
  };
}
