/** A one-time link that opens an organisation's connection pages to somebody without an account (connections.md §1). */
import type { RecordOf } from "../../db/records.ts";
import type { PortalLinkTable } from "../../db/tables/connections.ts";
import type { Connection } from "../connections/connection.ts";
import { type ApiScope, holdsApiScope } from "../scopes/api-scopes.ts";

/** Which pages it opens: of identity providers, of domains, of directories. */
export const portalPurposes = ["connections", "domains", "scim"] as const;
export type PortalPurpose = (typeof portalPurposes)[number];

export interface PortalLink extends Omit<RecordOf<PortalLinkTable>, "purposes" | "scopes"> {
  readonly purposes: readonly PortalPurpose[];
  /** Those that who made it held, and that some settings of a connection need beside `signet:connections:write`. */
  readonly scopes: readonly ApiScope[];
}

/** Milliseconds: until it is opened. */
export const LINK_LIFETIME_MS = 3_600_000;
/** Milliseconds: of what it opens, from then on, whatever happens there. */
export const VISIT_LIFETIME_MS = 3_600_000;
/** Of an organisation, that are not over. */
export const MAX_LINKS = 200;
/** Of those that are over, the oldest are forgotten first. */
export const MAX_OVER = 500;

export const portalStates = ["pending", "open", "closed", "expired"] as const;
export type PortalState = (typeof portalStates)[number];

export function portalState({ openedAt, endsAt }: PortalLink, now: number): PortalState {
  if (now < endsAt) return openedAt === null ? "pending" : "open";
  return openedAt === null ? "expired" : "closed";
}

/** As the audit log names whoever has opened it. */
export const portalActor = ({ id }: Pick<PortalLink, "id">): string => `portal-link:${id}`;

export const purposeOf = ({ kind }: Pick<Connection, "kind">): PortalPurpose =>
  kind === "scim" ? "scim" : "connections";

/** The visitor may do no more than who made the link (api-v1.md, "No more than you have"). */
export const mayByLink = ({ scopes }: Pick<PortalLink, "scopes">, needed: readonly ApiScope[]): boolean =>
  needed.every((scope) => holdsApiScope(scopes, scope));

export type PortalLinkCode = "unregistered-return-url" | "too-many-links";

const messages: Readonly<Record<PortalLinkCode, string>> = {
  "unregistered-return-url":
    "must be a redirect URI, post-logout redirect URI, return URL or home page of an enabled application",
  "too-many-links": `the organisation has ${MAX_LINKS} links that are not over`,
};

/** The message is public. */
export class InvalidPortalLink extends Error {
  readonly code: PortalLinkCode;
  constructor(code: PortalLinkCode) {
    super(messages[code]);
    this.name = "InvalidPortalLink";
    this.code = code;
  }
}
