/** System accounts of the organisation, their key pairs, and the applications they may act for. */
import type { CallOptions, TypedClient } from "../service-api/typed-client.ts";
import type {
  ChangedSystemAccount,
  CreatedSystemAccount,
  CreatedSystemAccountKey,
  ManagementCalls,
  NewSystemAccount,
  SystemAccount,
} from "./management-types.ts";
import {
  type DeleteOptions,
  type RepeatOptions,
  repeatable,
  type VersionedRecords,
  versionedRecords,
} from "./versioned-records.ts";

type NewKey = NonNullable<ManagementCalls["POST /legacy/api/oauth/system-accounts/{id}/keys"]["body"]>;

/** System accounts of the organisation and their key pairs. */
export interface ManagedSystemAccounts
  extends VersionedRecords<SystemAccount, CreatedSystemAccount, NewSystemAccount, ChangedSystemAccount> {
  /** Deletes the account with its keys. An account can't delete itself. */
  delete(id: string, options?: DeleteOptions): Promise<void>;
  /** Lets the account act for another application of the organisation. */
  grantApplication(id: string, applicationId: string, options?: CallOptions): Promise<void>;
  /** Revokes that permission. */
  withdrawApplication(id: string, applicationId: string, options?: CallOptions): Promise<void>;
  /** Adds a key pair, shown only once. The old ones stay active unless `expireOthersInSeconds` is set. */
  addKey(id: string, key?: NewKey, options?: RepeatOptions): Promise<CreatedSystemAccountKey>;
  /** Revokes one key pair immediately. A pair can't revoke itself. */
  revokeKey(id: string, publicKey: string, options?: CallOptions): Promise<void>;
}

const ACCOUNTS = "/legacy/api/oauth/system-accounts";
const ACCOUNT = `${ACCOUNTS}/{id}` as const;

export function managedSystemAccounts(client: TypedClient<ManagementCalls>): ManagedSystemAccounts {
  const { call } = client;
  return {
    ...versionedRecords(client, ACCOUNTS),
    grantApplication: (id, applicationId, options) =>
      call(`PUT ${ACCOUNT}/permissions/{applicationId}`, { path: { id, applicationId } }, options),
    withdrawApplication: (id, applicationId, options) =>
      call(`DELETE ${ACCOUNT}/permissions/{applicationId}`, { path: { id, applicationId } }, options),
    addKey: (id, body = {}, options = {}) =>
      call(`POST ${ACCOUNT}/keys`, { path: { id }, body, ...repeatable(options) }, options),
    revokeKey: (id, publicKey, options) =>
      call(`DELETE ${ACCOUNT}/keys/{keyId}`, { path: { id, keyId: publicKey } }, options),
  };
}
