/**
 * A domain that is routed sends its people to its connection, once they have typed their address (connections.md §3). Organisation
 * and domain decide, never the account.
 */
import type { Db } from "../../db/open.ts";
import { domainOf } from "./domain.ts";
import { findRoute } from "./domains.store.ts";

/** Of the connections, those that a sign-in can start at. */
export const servedKinds = ["oidc", "saml", "oauth"] as const;

/** @returns the connection that this address is sent to; undefined for one that signs in here */
export async function routedConnection(db: Db, orgId: string, email: string): Promise<string | undefined> {
  const domain = domainOf(email);
  return domain === undefined ? undefined : findRoute(db, orgId, { kinds: servedKinds, domain });
}

export const hasRoutedDomain = async (db: Db, orgId: string): Promise<boolean> =>
  (await findRoute(db, orgId, { kinds: servedKinds })) !== undefined;
