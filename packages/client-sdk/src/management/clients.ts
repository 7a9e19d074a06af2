/** OAuth clients (the organisation's applications), their secrets, and their assigned users. */
import type { CallOptions, ItemList, ListOptions, TypedClient } from "../service-api/typed-client.ts";
import type {
  AssignedUser,
  ChangedClient,
  Client,
  CreatedClient,
  CreatedClientSecret,
  ManagementCalls,
  NewClient,
} from "./management-types.ts";
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
    rotateSecret: (clientId, body = {}, options = {}) =>
      call(`POST ${CLIENT}/rotate-secret`, { path: { clientId }, body, ...repeatable(options) }, options),
    revokeOldSecret: (clientId, secretId, options = {}) => {
      const body = secretId === undefined ? {} : { secretId };
      return call(
        `POST ${CLIENT}/revoke-old-secret`,
        { path: { clientId }, body, ...repeatable(options) },
        options,
      );
    },
    assignedUsers: (clientId, options) => list(`GET ${CLIENT}/users`, { path: { clientId } }, options),
    assignUser: (clientId, permId, options) =>
      call(`PUT ${CLIENT}/users/{permId}`, { path: { clientId, permId } }, options),
    unassignUser: (clientId, permId, options) =>
      call(`DELETE ${CLIENT}/users/{permId}`, { path: { clientId, permId } }, options),
  };
}
