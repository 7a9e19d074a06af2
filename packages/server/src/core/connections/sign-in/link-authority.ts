/**
 * What somebody must hold beside `signet:connections:write`. Who decides which provider speaks for accounts that are there could sign
 * in as an administrator, or as a user of a directory; who decides what it says, gets into the groups that its claims are mapped to
 * (api-v1.md, "No more than you have").
 */
import type { Db } from "../../../db/open.ts";
import type { ApiScope } from "../../scopes/api-scopes.ts";
import type { ConnectionKey } from "../connection.ts";
import { hasIdentities, hasLinkedAdministrator } from "./linked-identities.store.ts";
import type { SignInConnection } from "./sign-in-connections.ts";

/** Neither is about who signs in. */
const harmless: readonly string[] = ["name", "shown"];

/** Of a SAML connection, what says who its provider is: `settings` is all of a form. */
const providing: readonly string[] = ["saml", "settings"];

/** For a token of a directory: it makes, changes and ends users and groups. */
export const scopesOfDirectoryToken = ["signet:users:write", "signet:groups:write"] as const;

/** What there was before a change, and beside it. */
export interface Beside {
  /** Undefined for one that is being made. */
  readonly before?: SignInConnection;
  /** Whether a directory provisions users of the organisation. */
  readonly hasDirectory: boolean;
  /** Whether anybody, and whether an administrator, is linked at the connection. */
  readonly linked?: Linked | undefined;
}

export type Linked = "user" | "administrator";

/** @returns undefined where nobody is */
export async function linkedAt(db: Db, { orgId, id }: ConnectionKey): Promise<Linked | undefined> {
  const key = { orgId, connectionId: id };
  if (await hasLinkedAdministrator(db, key)) return "administrator";
  return (await hasIdentities(db, key)) ? "user" : undefined;
}

export interface AskedLinking {
  /** Of the connection that are set. */
  readonly members: readonly string[];
  /** Undefined where it stays. */
  readonly linking?: unknown;
  readonly mapsGroups?: boolean;
}

/** For making a connection, or changing one. */
export function scopesToLink(
  { members, linking: asked, mapsGroups = false }: AskedLinking,
  { before, hasDirectory, linked }: Beside,
): ApiScope[] {
  if (!members.some((member) => !harmless.includes(member))) return [];
  const { groups, linking: linkedBefore } = before?.settings ?? {};
  const linking = asked === undefined ? linkedBefore : asked;
  const scopes: ApiScope[] = [];
  // Whoever is in a group has its roles.
  if (groups || mapsGroups) scopes.push("signet:groups:write");
  // Those of a directory are linked by its ids, without a proof of their own.
  if (hasDirectory && linking !== "never") scopes.push("signet:users:write");
  // Whoever chooses its keys, its address or what a subject is, could say that it is anybody who is linked.
  const speaksForThem = before?.kind === "saml" && members.some((one) => providing.includes(one));
  if (speaksForThem && linked !== undefined) scopes.push("signet:users:write");
  if (
    (speaksForThem && linked === "administrator") ||
    linkedBefore === "verifiedEmail" ||
    linking === "verifiedEmail"
  )
    scopes.push("signet:organisation:write");
  return scopes;
}

/** For routing a proven domain to a provider, which then speaks for the accounts with its addresses. */
export function scopesToRoute(
  { settings: { linking } }: SignInConnection,
  { hasDirectory }: Pick<Beside, "hasDirectory">,
): ApiScope[] {
  return [
    ...(hasDirectory && linking !== "never" ? (["signet:users:write"] as const) : []),
    ...(linking === "verifiedEmail" ? (["signet:organisation:write"] as const) : []),
  ];
}
