/**
 * The management API (specification, "Management API"; wire-contract.md §5): an administrator's system account looks after
 * its organisation's clients, scopes, consents, pre-authorizations and system accounts. What every resource here has in
 * common.
 */
import { isUuid } from "@signet/protocol/hash";
import Type from "typebox";
import type { Clock } from "../../core/clock.ts";
import type { Encryption } from "../../core/encryption/encryption.ts";
import type { SystemAccountCaller } from "../../core/system-accounts/caller.ts";
import type { ChangeFeed } from "../../db/change-feed.ts";
import { boundTo, type Database } from "../../db/open.ts";
import { ApiError, invalid, type MemberFault, notFound } from "../../http/api/api-error.ts";
import type { Answer, ApiDoor } from "../../http/api/api-route.ts";
import { etagOf } from "../../http/api/concurrency.ts";
import { pageQuery } from "../../http/api/paging.ts";

export interface ManagementDeps {
  readonly database: Database;
  readonly changes: ChangeFeed;
  readonly clock: Clock;
  readonly baseUrl: string;
  readonly door: ApiDoor<SystemAccountCaller, Database>;
  /** The same, for the strict form of signature alone. */
  readonly strictDoor: ApiDoor<SystemAccountCaller, Database>;
  /** Seals the secrets of system accounts. */
  readonly encryption: Encryption;
}

/** Of lists that can only be paged; a filter that is misspelled must not list everything. */
export const pageQuerySchema = Type.Object(pageQuery, { additionalProperties: false });

/** One transaction for all that a request does: the one that keeps its answer, when there is one. */
export function acting<T>(
  deps: ManagementDeps,
  within: Database | undefined,
  work: (inside: ManagementDeps) => Promise<T>,
): Promise<T> {
  if (within) return work({ ...deps, database: within });
  const { database } = deps;
  return database.transaction((tx) => work({ ...deps, database: boundTo(database, tx) }));
}

/** Who acts, and from where, as the audit log has it. */
export const by = ({ actor, address }: SystemAccountCaller) => ({ actor, address });

/** @throws ApiError 404 for what is no id: there is nothing of that name */
export function idOf(params: Readonly<Record<string, string>>, name = "id"): string {
  const id = params[name] ?? "";
  if (!isUuid(id)) throw notFound();
  return id.toLowerCase();
}

/** Where the thing that a member names is not there, or is another organisation's. */
export const namesNothing = (path: string): ApiError =>
  new ApiError(404, "not-found", "There is nothing here", {
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

/** @param path below the management API, e.g. `scopes/<id>` */
export const locationOf = ({ baseUrl }: ManagementDeps, path: string): string =>
  `${baseUrl}/legacy/api/oauth/${path}`;

/** A record that can be changed, with the tag that a change of it may name. */
export const versioned = (body: unknown, version: number): Answer => ({
  status: 200,
  body,
  headers: { etag: etagOf(version) },
});
