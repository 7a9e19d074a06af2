/** A connection stays, and stays enabled, while it is the only way in for the people of a domain (connections.md §4). */
import type { Db } from "../../db/open.ts";
import { hasEnforcedDomain } from "../domains/domains.store.ts";
import { type ConnectionKey, InvalidConnection } from "./connection.ts";

/** The caller has locked the connection, as whoever enforces a domain does. @throws InvalidConnection */
export async function requireNotEnforced(tx: Db, { orgId, id }: ConnectionKey): Promise<void> {
  if (await hasEnforcedDomain(tx, orgId, id)) throw new InvalidConnection("enforces-domain");
}
