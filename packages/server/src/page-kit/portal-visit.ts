/**
 * Which pages of the console somebody may use who has opened a portal link (connections.md §1): those named here, for what the
 * link is for, and no other. Decided here alone, by the address; an administrator's session comes first.
 */
import { isUuid } from "@signet/protocol/hash";
import { findConnection } from "../core/connections/connections.store.ts";
import type { CoreDeps } from "../core/core-deps.ts";
import { type PortalLink, type PortalPurpose, purposeOf } from "../core/portal-links/portal-link.ts";
import { findVisit } from "../core/portal-links/portal-links.ts";
import { acrValues, type SignedIn } from "../core/sessions/session.ts";
import { NotFound } from "../http/errors.ts";
import { consolePath, pathParams, SeeOther, type Visit } from "./page.ts";

/** Where a visit begins, below the organisation's console. */
export const PORTAL = "/portal";
/** What says that it is over: of no organisation. */
export const PORTAL_ENDED = "/portal";

/**
 * `any`: whatever the link is for. `home`: there is a page in its place. `connection`: of a connection, by its kind. `new`: by the
 * kind that is chosen, which new.route.ts looks at.
 */
type Opening = "any" | "home" | "connection" | "new" | PortalPurpose;

const pages: Readonly<Record<string, Opening>> = {
  "/portal": "any",
  "/portal/close": "any",
  "/connections": "home",
  "/connections/new": "new",
  "/connections/:id": "connection",
  "/connections/:id/settings": "connection",
  "/connections/:id/enable": "connection",
  "/connections/:id/disable": "connection",
  "/connections/:id/sign-ins": "connections",
  "/connections/:id/test": "connections",
  "/connections/:id/tests/:test": "connections",
  "/connections/:id/tests/:test/state": "connections",
  "/connections/:id/tokens": "scim",
  "/connections/:id/tokens/new": "scim",
  "/connections/:id/tokens/:token/end": "scim",
  "/connections/:id/calls": "scim",
  "/domains": "home",
  "/domains/new": "domains",
  "/domains/:id": "domains",
  "/domains/:id/settings": "domains",
  "/domains/:id/verify": "domains",
};

const openings: ReadonlyMap<string, Opening> = new Map(
  Object.entries(pages).map(([rest, opening]) => [`/oauth/manage/:org${rest}`, opening]),
);

/** Whether a link can open the page at an address as it is registered. */
export const isPortalPage = (url: string): boolean => openings.has(url);

/**
 * @param session the visit's cookie
 * @returns undefined where no link opens the page, or none was opened in this browser
 * @throws SeeOther where the visit is over, or begins; NotFound for what the link isn't for
 */
export async function portalVisit(
  deps: CoreDeps,
  visit: Visit,
  session: string | undefined,
): Promise<SignedIn | undefined> {
  const { organisation, request } = visit;
  const opening = openings.get(request.routeOptions.url ?? "");
  if (opening === undefined || session === undefined) return undefined;
  const link = await findVisit(deps, { orgId: organisation.id, session });
  if (!link) throw new SeeOther(PORTAL_ENDED);
  if (opening === "home") throw new SeeOther(consolePath(organisation, PORTAL));
  if (!(await opens(deps, visit, link, opening))) throw new NotFound("page of the portal link");
  return visitor(link);
}

async function opens(
  { database }: CoreDeps,
  visit: Visit,
  { orgId, purposes }: PortalLink,
  opening: Exclude<Opening, "home">,
): Promise<boolean> {
  if (opening === "any") return true;
  if (opening === "new") return purposes.some((purpose) => purpose !== "domains");
  if (opening !== "connection") return purposes.includes(opening);
  const { id = "" } = pathParams(visit);
  const connection = isUuid(id) ? await findConnection(database.query, { orgId, id }) : undefined;
  return connection !== undefined && purposes.includes(purposeOf(connection));
}

/** Nobody's session: what reads it finds no account, and the link's id in the place of a user's. */
function visitor(link: PortalLink): SignedIn {
  const { orgId, id, createdAt, openedAt, endsAt } = link;
  const at = openedAt ?? createdAt;
  return {
    session: {
      ...{ orgId, id, userId: id, authTime: at, amr: [], acr: acrValues.password },
      ...{ createdAt: at, lastSeenAt: at, expiresAt: endsAt },
    },
    user: {
      ...{ homeOrgId: orgId, orgId, id, email: "", emailVerified: false, username: null },
      ...{ firstname: "", surname: "", phone: null, locale: null, details: {}, role: "Standard" },
      ...{ attributes: {}, membership: { groups: [], attributes: {} } },
      ...{ createdAt, profileChangedAt: createdAt, disabledAt: null },
    },
    portal: link,
  };
}
