/** What is around every page of the console, for the one who looks at it. */

import type { FastifyInstance } from "fastify";
import { type ImageKind, imagePath } from "../core/organisations/image-kinds.ts";
import { imagesOf } from "../core/organisations/images.ts";
import type { Organisation, OrganisationSettings } from "../core/organisations/organisation.ts";
import { organisationsAdministeredBy } from "../core/organisations/organisations.store.ts";
import { signInTextFor } from "../core/organisations/sign-in-texts.ts";
import type { PortalLink } from "../core/portal-links/portal-link.ts";
import type { SignedIn } from "../core/sessions/session.ts";
import { countWaiting } from "../core/sign-ups/sign-ups.store.ts";
import { commandMenu } from "../html/components/command-menu.ts";
import type { ConsoleFrame, MenuLink, NavLink, NavSection } from "../html/components/console-view.ts";
import type { IconName } from "../html/components/icons.ts";
import { interFont } from "../html/fonts.ts";
import type { Html } from "../html/html.ts";
import type { PageOrganisation } from "../html/layout.ts";
import type { Messages } from "../html/messages/messages.ts";
import { consoleStylesheet } from "../html/stylesheet.ts";
import { parseQuery } from "../http/form-body.ts";
import { newNonce } from "../http/page.ts";
import {
  type CONSOLE,
  type ConsoleDeps,
  consolePath,
  consoleRoute,
  requireAdministrator,
  show,
  type Visit,
} from "./page.ts";
import { readerMessages } from "./reader-language.ts";
import { UNDONE, undoOf } from "./undo.ts";

/** The handbook, which the service itself serves: a section for each page of the navigation (features/documentation). */
const HANDBOOK = "/docs/console";

export type ConsolePage = keyof Messages["console"]["frame"]["pages"];

type Entry = readonly [page: ConsolePage, rest: string, icon: IconName];

/** What is in the navigation, from top to bottom: a page that comes later is one line. */
const sections: ReadonlyArray<{
  heading?: keyof Messages["console"]["frame"]["sections"];
  isLast?: true;
  pages: readonly Entry[];
}> = [
  {
    pages: [
      ["overview", "", "home"],
      ["quickstart", "/quickstart", "start"],
    ],
  },
  {
    heading: "build",
    pages: [
      ["applications", "/applications", "application"],
      ["resources", "/resources", "server"],
      ["scopes", "/scopes", "scope"],
      ["authorizationDetailTypes", "/authorization-detail-types", "braces"],
      ["systemAccounts", "/system-accounts", "account"],
      ["webhooks", "/webhooks", "event"],
    ],
  },
  {
    heading: "users",
    pages: [
      ["users", "/users", "users"],
      ["groups", "/groups", "groups"],
      ["roles", "/roles", "shield"],
      ["connections", "/connections", "connection"],
      ["domains", "/domains", "domain"],
      ["invitations", "/users?state=invited", "mail"],
      ["consents", "/consents", "consent"],
    ],
  },
  {
    heading: "experience",
    pages: [
      ["signInPage", "/settings/branding", "brush"],
      ["mailTemplates", "/mail-templates", "mail"],
      ["policies", "/settings/policies", "policy"],
    ],
  },
  {
    heading: "machines",
    pages: [
      ["devices", "devices", "device"],
      ["pools", "/pools", "pool"],
      ["trusts", "/trusts", "consent"],
      ["tokenExchange", "/token-exchange", "loop"],
      ["clientPolicy", "/client-policy", "terminal"],
      ["initialAccessTokens", "/initial-access-tokens", "key"],
    ],
  },
  {
    heading: "security",
    pages: [
      ["auditLog", "/audit-log", "log"],
      ["signingKeys", "/signing-keys", "key"],
      ["ledger", "/ledger", "ledger"],
      ["breakGlass", "/break-glass", "lock"],
      ["clientAuthorities", "/client-authorities", "shield"],
      ["tokenInspector", "/quickstart/token-inspector", "inspect"],
    ],
  },
  { isLast: true, pages: [["settings", "/settings", "settings"]] },
];

/** The devices' pages have the address that the specification gives them. */
const uriOf = (visit: Visit, rest: string): string =>
  rest === "devices" ? `/devices/manage/${visit.organisation.id}` : consolePath(visit.organisation, rest);

/** The value of `done` in an address when there was nothing left to do. */
export const ALREADY_APPLIED = "already";

/** What any page may say of the last act. */
export function outcomeOf({ request }: Pick<Visit, "request">): "already" | "undone" | undefined {
  const done = parseQuery(request).values.get("done");
  return done === ALREADY_APPLIED || done === UNDONE ? done : undefined;
}

/** What was just done, as the address says it: `done`, if there is a text for it. */
export function doneKey<Texts extends object>(
  { request }: Pick<Visit, "request">,
  texts: Texts,
): keyof Texts | undefined {
  const done = parseQuery(request).values.get("done");
  return done !== undefined && Object.hasOwn(texts, done) ? (done as keyof Texts) : undefined;
}

/** In the reader's language; free of queries, unlike the frame. */
export const pageMessages = ({ request, organisation }: Visit, { user }: Pick<SignedIn, "user">): Messages =>
  readerMessages(request, user, organisation);

const MAX_OTHER_ORGANISATIONS = 50;

/** Invitations are the users who have not accepted theirs: the same list, with a place of its own. */
const placeOf = ({ request }: Visit, page: ConsolePage | undefined): ConsolePage | undefined =>
  page === "users" && parseQuery(request).values.get("state") === "invited" ? "invitations" : page;

/** @param page the page of the navigation that this one belongs to */
export async function consoleFrame(
  deps: Pick<ConsoleDeps, "database" | "browserSession">,
  visit: Visit,
  signedIn: SignedIn,
  page: ConsolePage | undefined,
): Promise<ConsoleFrame> {
  if (signedIn.portal) return portalFrame(deps, visit, signedIn, signedIn.portal);
  const { organisation } = visit;
  const current = placeOf(visit, page);
  const { user } = signedIn;
  const shared = sharedFrame(deps, visit, signedIn);
  const { messages } = shared;
  const { frame } = messages.console;
  const waitingSignUps =
    organisation.settings.signUp.mode === "approval"
      ? await countWaiting(deps.database.query, organisation.id)
      : undefined;
  const others = await organisationsAdministeredBy(deps.database.query, user, MAX_OTHER_ORGANISATIONS);
  return {
    ...shared,
    homeUri: consolePath(organisation),
    navigation: {
      label: frame.navigation,
      sections: withCount(navigationSections(visit, messages, current), "users", waitingSignUps),
    },
    waitingSignUps,
    user: { email: user.email },
    elsewhere: [
      { id: "nav-account", label: frame.account, uri: `/oauth/${organisation.id}/account/security` },
    ],
    signOut: {
      uri: `/oauth/${organisation.id}/end_session`,
      csrf: deps.browserSession.formBinding(visit).csrf,
    },
    learnMoreUri: current && `${HANDBOOK}#${current}`,
    help: helpLinks(messages),
    commandMenu: commandMenu(consolePath(organisation, "/search"), user.id, messages),
    otherOrganisations: others.map(({ id, name }) => ({ name, uri: consolePath({ id }) })),
  };
}

function sharedFrame(deps: Pick<ConsoleDeps, "browserSession">, visit: Visit, signedIn: SignedIn) {
  const { organisation } = visit;
  const messages = pageMessages(visit, signedIn);
  const undo = undoOf(deps, visit, signedIn, messages);
  return {
    messages,
    nonce: newNonce(),
    stylesheet: consoleStylesheet.path,
    font: interFont.path,
    // The accent is for end users: the console has Signet's own colours.
    organisation: { ...pageOrganisation(organisation), accentColor: undefined },
    consoleUri: (rest: string) => consolePath(organisation, rest),
    outcome: outcomeOf(visit),
    ...(undo && { undo }),
  };
}

/** For somebody without an account: nothing leads out of the pages that the link opens. */
function portalFrame(
  deps: Pick<ConsoleDeps, "browserSession">,
  visit: Visit,
  signedIn: SignedIn,
  { purposes, returnUrl }: PortalLink,
): ConsoleFrame {
  const { organisation } = visit;
  const shared = sharedFrame(deps, visit, signedIn);
  const { console } = shared.messages;
  const homeUri = consolePath(organisation, "/portal");
  const home: NavLink = {
    ...{ id: "portal", icon: "connection", label: console.portal.navigation, uri: homeUri },
    isCurrent: visit.request.routeOptions.url === "/oauth/manage/:org/portal",
  };
  return {
    ...shared,
    homeUri,
    navigation: { label: console.portal.navigation, sections: [{ links: [home] }] },
    user: { email: "" },
    ...{ elsewhere: [], otherOrganisations: [] },
    signOut: {
      uri: consolePath(organisation, "/portal/close"),
      csrf: deps.browserSession.formBinding(visit).csrf,
    },
    portal: { purposes, returnUri: returnUrl ?? undefined },
  };
}

export function navigationSections(
  visit: Visit,
  { console: { frame } }: Messages,
  current?: ConsolePage,
): NavSection[] {
  const link = ([page, rest, icon]: Entry): NavLink => ({
    id: page,
    icon,
    label: frame.pages[page],
    uri: uriOf(visit, rest),
    isCurrent: page === current,
  });
  const help: NavLink = { id: "help", icon: "help", label: frame.help, uri: HANDBOOK, isCurrent: false };
  return sections.map(({ heading, pages, ...section }) => ({
    ...section,
    heading: heading && frame.sections[heading],
    links: section.isLast ? [...pages.map(link), help] : pages.map(link),
  }));
}

const withCount = (all: NavSection[], id: ConsolePage, count: number | undefined): NavSection[] =>
  count === undefined
    ? all
    : all.map((section) => ({
        ...section,
        links: section.links.map((link) => (link.id === id ? { ...link, count } : link)),
      }));

/** What this service itself serves to read. */
const helpLinks = ({ landing, console: { frame } }: Messages): MenuLink[] => [
  { id: "help-handbook", label: frame.handbook, uri: HANDBOOK },
  { id: "help-api", label: landing.apiReference, uri: "/docs" },
];

/**
 * Opens a page for reading, to any administrator.
 * @param returnTo where a sign-in returns to, when that is more than the page's path
 */
export async function openPage(
  deps: ConsoleDeps,
  visit: Visit,
  current: ConsolePage,
  returnTo?: string,
): Promise<ConsoleFrame> {
  const signedIn = await requireAdministrator(deps, visit, returnTo);
  return consoleFrame(deps, visit, signedIn, current);
}

/** A page for reading whose address is its path alone. */
export function readingRoute<Deps extends ConsoleDeps>(
  app: FastifyInstance,
  deps: Deps,
  url: `${typeof CONSOLE}${string}`,
  current: ConsolePage,
  page: (deps: Deps, visit: Visit, frame: ConsoleFrame, signedIn: SignedIn) => Promise<Html> | Html,
  returnTo?: (visit: Visit) => string,
): void {
  consoleRoute(app, deps, url, {
    get: async (_, visit) => {
      const signedIn = await requireAdministrator(deps, visit, returnTo?.(visit));
      const frame = await consoleFrame(deps, visit, signedIn, current);
      await show(visit, frame, await page(deps, visit, frame, signedIn));
    },
  });
}

/** Where a page takes each image from. */
export const imageUriNames = {
  logo: "logoUri",
  darkLogo: "darkLogoUri",
  favicon: "faviconUri",
  panel: "panelUri",
} as const satisfies Record<ImageKind, keyof PageOrganisation>;

/** A dark logo stands in for a logo; alone it would be nothing on light. */
const imageUris = (orgId: string, { logo, darkLogo, favicon, panel }: OrganisationSettings["images"]) => ({
  logoUri: logo && imagePath(orgId, logo),
  darkLogoUri: logo && darkLogo && imagePath(orgId, darkLogo),
  faviconUri: favicon && imagePath(orgId, favicon),
  panelUri: panel && imagePath(orgId, panel),
});

export const pageOrganisation = ({
  id,
  name,
  settings: { branding, images, defaultLocale },
}: Organisation): PageOrganisation => ({
  name,
  accentColor: branding.accentColor,
  ...imageUris(id, imagesOf({ branding, images })),
  links: { help: branding.helpUri, privacy: branding.privacyUri, terms: branding.termsUri },
  signInText: (locale) => signInTextFor(branding.signInTexts, { locale, defaultLocale }),
  accountUri: `/oauth/${id}/account`,
});
