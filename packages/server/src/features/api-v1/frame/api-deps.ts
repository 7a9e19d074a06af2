/** What the resources of API v1 are given, and the transaction of a request. */
import type { Encryption } from "../../../core/encryption/encryption.ts";
import type { Outbox } from "../../../core/mail/outbox.ts";
import type { Outbound } from "../../../core/outbound/outbound.ts";
import type { PasswordHasher } from "../../../core/passwords/password-hasher.ts";
import type { ChangeFeed } from "../../../db/change-feed.ts";
import { boundTo, type Database } from "../../../db/open.ts";
import type { ApiAccessDeps } from "../access.ts";

export interface ApiDeps extends ApiAccessDeps {
  readonly changes: ChangeFeed;
  readonly isDemo?: boolean | undefined;
  readonly encryption: Encryption;
  readonly outbound: Outbound;
  readonly outbox: Outbox;
  readonly passwords: PasswordHasher;
}

/** Runs all of a request in one transaction: in `within`, which also stores its response, when there is one. */
export function inTransaction<D extends ApiDeps, T>(
  deps: D,
  within: Database | undefined,
  work: (inside: D) => Promise<T>,
): Promise<T> {
  if (within) return work({ ...deps, database: within });
  const { database } = deps;
  return database.transaction((tx) => work({ ...deps, database: boundTo(database, tx) }));
}
