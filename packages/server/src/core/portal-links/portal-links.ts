/**
 * Portal links (connections.md §1): made by an organisation's application for the organisation's own administrator, opened once,
 * good for an hour before and an hour after that. A link gives no more than who made it has, and never an account.
 */
import { randomSecret, sha256Base64url } from "@signet/protocol/hash";
import { matchReturnUrl } from "@signet/protocol/return-url";
import { newUuid } from "@signet/protocol/uuid";
import type { Db } from "../../db/open.ts";
import type { Application } from "../applications/application.ts";
import { listEnabledApplications } from "../applications/applications.store.ts";
import { type Act, auditFields, recordAuditEvent } from "../audit/audit.store.ts";
import type { CoreDeps } from "../core-deps.ts";
import { lockOrganisation } from "../organisations/organisations.store.ts";
import { type ApiScope, holdsApiScope } from "../scopes/api-scopes.ts";
import { isMakerUsable } from "./link-maker.ts";
import {
  InvalidPortalLink,
  LINK_LIFETIME_MS,
  MAX_LINKS,
  MAX_OVER,
  type PortalLink,
  type PortalPurpose,
  portalActor,
  portalPurposes,
  portalState,
  VISIT_LIFETIME_MS,
} from "./portal-link.ts";
import {
  closeLinkRow,
  deletePortalLinkRow,
  findLinkOfSession,
  findLinkOfToken,
  insertPortalLink,
  listPortalLinks,
  lockPortalLink,
  openLinkRow,
} from "./portal-links.store.ts";

/** What some settings of a connection need beside `signet:connections:write`. */
const kept: readonly ApiScope[] = ["signet:groups:write", "signet:users:write", "signet:organisation:write"];

export interface WantedLink {
  readonly purposes: readonly PortalPurpose[];
  readonly returnUrl: string | null;
  /** Of who makes it. */
  readonly scopes: readonly ApiScope[];
}

/** @returns the link with its token, which is never shown again. @throws InvalidPortalLink */
export function createPortalLink(
  deps: CoreDeps,
  { wanted, ...act }: Act & { readonly wanted: WantedLink },
): Promise<{ readonly link: PortalLink; readonly token: string }> {
  return deps.database.transaction(async (tx) => {
    const now = deps.clock();
    const { orgId } = act;
    // Of two at once the second counts the first.
    await lockOrganisation(tx, orgId);
    const isOver = (link: PortalLink) => ["closed", "expired"].includes(portalState(link, now));
    const all = await listPortalLinks(tx, orgId);
    const over = all.filter(isOver);
    if (all.length - over.length >= MAX_LINKS) throw new InvalidPortalLink("too-many-links");
    for (const { id } of over.slice(0, Math.max(0, over.length - MAX_OVER + 1)))
      await deletePortalLinkRow(tx, { orgId, id });
    await requireRegistered(tx, orgId, wanted.returnUrl);
    const token = randomSecret("sgn_pl_");
    const link: PortalLink = {
      ...{ orgId, id: newUuid(), tokenHash: sha256Base64url(token), returnUrl: wanted.returnUrl },
      purposes: portalPurposes.filter((purpose) => wanted.purposes.includes(purpose)),
      scopes: kept.filter((scope) => holdsApiScope(wanted.scopes, scope)),
      ...{ openedAt: null, sessionHash: null, endsAt: now + LINK_LIFETIME_MS },
      ...{ createdBy: act.actor, createdAt: now, updatedAt: now },
    };
    await insertPortalLink(tx, link);
    const details = { purposes: link.purposes };
    const event = { action: "portal-link.created" as const, target: link.id, details };
    await recordAuditEvent(tx, { ...auditFields(act, now), ...event });
    return { link, token };
  });
}

const PAGE = 200;

/** @throws InvalidPortalLink: a link must not lead its visitor to just any address afterwards */
async function requireRegistered(tx: Db, orgId: string, returnUrl: string | null): Promise<void> {
  if (returnUrl === null) return;
  let after = "";
  for (;;) {
    const page = await listEnabledApplications(tx, orgId, { after, limit: PAGE });
    if (page.some((application) => isRegisteredWith(application, returnUrl))) return;
    const last = page.at(-1);
    if (!last || page.length < PAGE) throw new InvalidPortalLink("unregistered-return-url");
    after = last.id;
  }
}

function isRegisteredWith({ settings }: Application, returnUrl: string): boolean {
  const { redirectUris, postLogoutRedirectUris, homepageUri, returnUrls } = settings;
  if (!/^https?:\/\//.test(returnUrl)) return false;
  return (
    [...redirectUris, ...postLogoutRedirectUris, homepageUri].includes(returnUrl) ||
    matchReturnUrl(returnUrl, returnUrls)
  );
}

/** What a token leads to, whatever became of it, and whether it can be opened; opening it is another matter. */
export async function findLink(
  { database: { query }, clock }: CoreDeps,
  token: string,
): Promise<{ readonly link: PortalLink; readonly isUsable: boolean } | undefined> {
  const link = await findLinkOfToken(query, sha256Base64url(token));
  if (!link) return undefined;
  return { link, isUsable: portalState(link, clock()) === "pending" && (await isMakerUsable(query, link)) };
}

/** Once. @returns undefined when it is used, expired or withdrawn; with the secret of its visit otherwise */
export function openPortalLink(
  deps: CoreDeps,
  { orgId, token, address }: { readonly orgId: string; readonly token: string; readonly address: string },
): Promise<{ readonly link: PortalLink; readonly session: string } | undefined> {
  return deps.database.transaction(async (tx) => {
    const now = deps.clock();
    const session = randomSecret("sgn_ps_");
    const hashes = { tokenHash: sha256Base64url(token), sessionHash: sha256Base64url(session) };
    const link = await openLinkRow(tx, { orgId, ...hashes, now, endsAt: now + VISIT_LIFETIME_MS });
    if (!link) return undefined;
    const event = { action: "portal-link.opened" as const, target: link.id };
    const details = { purposes: link.purposes };
    await recordAuditEvent(tx, { orgId, at: now, actor: portalActor(link), address, ...event, details });
    return { link, session };
  });
}

/** @returns undefined when the visit is over, or its link's maker could make none any more */
export async function findVisit(
  { database: { query }, clock }: CoreDeps,
  { orgId, session }: { readonly orgId: string; readonly session: string },
): Promise<PortalLink | undefined> {
  const key = { orgId, sessionHash: sha256Base64url(session), now: clock() };
  const link = await findLinkOfSession(query, key);
  return link && (await isMakerUsable(query, link)) ? link : undefined;
}

/** The visitor is done. Does nothing when the visit is over. */
export function closePortalLink(
  deps: CoreDeps,
  { id, ...act }: Act & { readonly id: string },
): Promise<void> {
  return deps.database.transaction(async (tx) => {
    const now = deps.clock();
    if (!(await closeLinkRow(tx, { orgId: act.orgId, id }, now))) return;
    const event = { action: "portal-link.closed" as const, target: id };
    await recordAuditEvent(tx, { ...auditFields(act, now), ...event });
  });
}

/** Ends its visit too. @param check of the present record, locked. @returns false when there is none */
export function deletePortalLink(
  deps: CoreDeps,
  { id, check, ...act }: Act & { readonly id: string; check?(link: PortalLink): Promise<void> },
): Promise<boolean> {
  return deps.database.transaction(async (tx) => {
    const key = { orgId: act.orgId, id };
    const link = await lockPortalLink(tx, key);
    if (!link) return false;
    await check?.(link);
    await deletePortalLinkRow(tx, key);
    const event = { action: "portal-link.deleted" as const, target: id };
    await recordAuditEvent(tx, { ...auditFields(act, deps.clock()), ...event });
    return true;
  });
}
