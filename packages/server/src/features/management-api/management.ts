/**
 * The management API (specification, "Management API"; wire-contract.md §5): an administrator's system account manages its
 * organisation's clients, scopes, consents, pre-authorizations and system accounts. What all of its resources share.
 */

import type { CoreDeps } from "../../core/core-deps.ts";
import type { Encryption } from "../../core/encryption/encryption.ts";
import type { SystemAccountCaller } from "../../core/system-accounts/system-account.ts";
import type { ChangeFeed } from "../../db/change-feed.ts";
import { boundTo, type Database } from "../../db/open.ts";
import { ApiError, invalid, type MemberFault } from "../../http/api/api-error.ts";
import type { ApiAuthenticator } from "../../http/api/api-route.ts";

export interface ManagementDeps extends CoreDeps {
  readonly changes: ChangeFeed;
  readonly baseUrl: string;
  readonly authenticator: ApiAuthenticator<SystemAccountCaller, Database>;
  /** Encrypts the secrets of system accounts. */
  readonly encryption: Encryption;
}

/** Runs all of a request in one transaction: in `within`, which also stores its response, when there is one. */
export function inTransaction<T>(
  deps: ManagementDeps,
  within: Database | undefined,
  work: (inside: ManagementDeps) => Promise<T>,
): Promise<T> {
  if (within) return work({ ...deps, database: within });
  const { database } = deps;
  return database.transaction((tx) => work({ ...deps, database: boundTo(database, tx) }));
}

/** The caller as the audit log names it. */
export const by = ({ actor, address }: SystemAccountCaller) => ({ actor, address });

/** A member of the body names a record that doesn't exist in the organisation. */
export const unknownReference = (path: string): ApiError =>
  new ApiError(404, "not-found", "Not found", {
    errors: [{ path, message: "names nothing in this organisation" }],
  });

/** Faults of a core record as JSON Pointers (RFC 6901): `claims[0].name` becomes `/claims/0/name`. */
export function invalidMembers(
  faults: readonly MemberFault[],
  wireName = (member: string): string => member,
): ApiError {
  return invalid(
    faults.map(({ path, message }) => {
      const [member = "", ...rest] = path.replaceAll(/\[(\d+)\]/g, ".$1").split(".");
      return { path: `/${[wireName(member), ...rest].join("/")}`, message };
    }),
  );
}
