/**
 * A domain that is enforced leaves its people one way in, its connection (connections.md §4, "Enforced"). Organisation and domain
 * decide, never the account: the answer tells nothing about who is there.
 */
import type { Db } from "../../db/open.ts";
import { domainOf } from "./domain.ts";
import { findDomainByName } from "./domains.store.ts";

/** @returns the connection that alone signs this address in; undefined where every way is open */
export async function enforcedConnection(db: Db, orgId: string, email: string): Promise<string | undefined> {
  const name = domainOf(email);
  const domain = name === undefined ? undefined : await findDomainByName(db, orgId, name);
  return domain?.enforced ? (domain.connectionId ?? undefined) : undefined;
}

export const isEnforced = async (db: Db, orgId: string, email: string): Promise<boolean> =>
  (await enforcedConnection(db, orgId, email)) !== undefined;
