/** System accounts of the organisation: their keys, and the applications that they may act for. */
import type { ItemList } from "../service-api/item-list.ts";
import type { CallOptions, ListOptions, TypedClient } from "../service-api/typed-client.ts";
import type { ManagementCalls } from "./management-calls.ts";
import type {
  ChangedSystemAccount,
  CreatedSystemAccount,
  CreatedSystemAccountKey,
  NewSystemAccount,
  SystemAccount,
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

type NewKey = NonNullable<ManagementCalls["POST /legacy/api/oauth/system-accounts/{id}/keys"]["body"]>;

/** System accounts of the organisation and their keys. */
export interface ManagedSystemAccounts {
  /** All of them, oldest first. */
  list(options?: ListOptions): ItemList<SystemAccount>;
  /** With the `etag` that `replace` goes by. */
  get(id: string, options?: CallOptions): Promise<Versioned<SystemAccount>>;
  /** `secretKey` is shown this once: null when the answer that had it was lost on the way, and `addKey` gives another pair. */
  create(account: NewSystemAccount, options?: RepeatOptions): Promise<Versioned<CreatedSystemAccount>>;
  /** Its name, the form of its signatures and whether it is let in: all three are sent. */
  replace(
    id: string,
    account: Replacement<ChangedSystemAccount>,
    options?: CallOptions,
  ): Promise<Versioned<SystemAccount>>;
  /** Reads, changes and replaces; again when somebody else was faster. */
  update(
    id: string,
    change: (
      account: Versioned<SystemAccount>,
    ) => Replacement<ChangedSystemAccount> | Promise<Replacement<ChangedSystemAccount>>,
    options?: CallOptions,
  ): Promise<Versioned<SystemAccount>>;
  /** With its keys. The account that calls cannot delete itself. */
  delete(id: string, options?: DeleteOptions): Promise<void>;
  /** Lets it act for another application of the organisation. */
  grantApplication(id: string, applicationId: string, options?: CallOptions): Promise<void>;
  /** Takes that back. */
  withdrawApplication(id: string, applicationId: string, options?: CallOptions): Promise<void>;
  /** Another pair of keys, shown this once; the old ones work on, unless `expireOthersInSeconds` says when they end. */
  addKey(id: string, key?: NewKey, options?: RepeatOptions): Promise<CreatedSystemAccountKey>;
  /** Ends one pair at once. The pair that a call is signed with cannot end itself. */
  revokeKey(id: string, publicKey: string, options?: CallOptions): Promise<void>;
}

const ALL = "/legacy/api/oauth/system-accounts";
const ONE = `${ALL}/{id}` as const;

export function managedSystemAccounts(calls: TypedClient<ManagementCalls>): ManagedSystemAccounts {
  const { call, list } = calls;
  const get: ManagedSystemAccounts["get"] = async (id, options) =>
    versioned(await call(`GET ${ONE}`, { path: { id } }, options));
  const replace: ManagedSystemAccounts["replace"] = async (id, account, options) =>
    versioned(await call(`PUT ${ONE}`, { path: { id }, ...replacing(account) }, options));
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
    ...permissions(calls),
    ...keys(calls),
  };
}

function permissions({
  call,
}: TypedClient<ManagementCalls>): Pick<ManagedSystemAccounts, "grantApplication" | "withdrawApplication"> {
  return {
    grantApplication: async (id, applicationId, options) => {
      await call(`PUT ${ONE}/permissions/{applicationId}`, { path: { id, applicationId } }, options);
    },
    withdrawApplication: async (id, applicationId, options) => {
      await call(`DELETE ${ONE}/permissions/{applicationId}`, { path: { id, applicationId } }, options);
    },
  };
}

function keys({ call }: TypedClient<ManagementCalls>): Pick<ManagedSystemAccounts, "addKey" | "revokeKey"> {
  return {
    addKey: async (id, body = {}, options = {}) =>
      (await call(`POST ${ONE}/keys`, { path: { id }, body, ...repeatable(options) }, options)).body,
    revokeKey: async (id, publicKey, options) => {
      await call(`DELETE ${ONE}/keys/{keyId}`, { path: { id, keyId: publicKey } }, options);
    },
  };
}
