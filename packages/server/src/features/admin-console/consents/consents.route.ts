/** oauth/manage/{org}/consents and /preauthorizations: what applications may use, and who said so (specification, "Consent"). */
import { isUuid } from "@signet/protocol/hash";
import type { FastifyInstance } from "fastify";
import { emailKey } from "../../../core/users/user.ts";
import { findSignInAccount } from "../../../core/users/users.store.ts";
import { queryOf } from "../../../http/form-body.ts";
import { actorTexts } from "../../../page-kit/actor-names.ts";
import { consoleFrame } from "../../../page-kit/console-frame.ts";
import {
  administratorHere,
  type ConsoleDeps,
  consolePath,
  consoleRoute,
  queryText,
  show,
  type Visit,
} from "../../../page-kit/visit.ts";
import { type ConsentsTab, type ConsentsView, consentsPage } from "./consents.page.ts";
import {
  type ConsentSearch,
  type ListedConsent,
  listNamedConsents,
  listNamedPreauthorizations,
} from "./consents.store.ts";
import { findApplicationBy } from "./find-application.ts";
import { grantRoutes } from "./grant.route.ts";
import { revokeRoutes } from "./revoke.route.ts";

const ON_A_PAGE = 25;

export function consentsRoutes(app: FastifyInstance, deps: ConsoleDeps): void {
  for (const tab of ["consents", "preauthorizations"] as const)
    consoleRoute(app, deps, `/${tab}`, { get: (visit) => showList(deps, visit, tab) });
  grantRoutes(app, deps);
  revokeRoutes(app, deps);
}

type Values = ReadonlyMap<string, string>;

function searchOf(values: Values, tab: ConsentsTab): ConsentsView["search"] {
  const text = (name: string) => (values.get(name) ?? "").trim().slice(0, 254);
  const kind = text("kind");
  return {
    user: tab === "consents" ? text("search") : "",
    application: text(tab === "consents" ? "application" : "search"),
    kind: kind === "user" || kind === "organisation" ? kind : "",
    state: tab === "consents" && text("state") === "revoked" ? "revoked" : "living",
  };
}

/** The address of a list. @param more what is another than in `search` */
function listAt(
  { organisation }: Visit,
  tab: ConsentsTab,
  search: ConsentsView["search"],
  more: Record<string, string | undefined> = {},
): string {
  const state = search.state === "living" ? undefined : search.state;
  const query =
    tab === "consents"
      ? { search: search.user, application: search.application, kind: search.kind, state, ...more }
      : { search: search.application, ...more };
  return consolePath(organisation, `/${tab}${queryText(query)}`);
}

async function showList(deps: ConsoleDeps, visit: Visit, tab: ConsentsTab): Promise<void> {
  const { organisation, request } = visit;
  const { values } = queryOf(request);
  const search = searchOf(values, tab);
  const before = values.get("before");
  const signedIn = await administratorHere(deps, visit, listAt(visit, tab, search, { before }));
  if (!signedIn) return;
  const frame = await consoleFrame(deps, visit, signedIn, "consents");
  const asked = await lookUp(deps, visit, tab, search);
  const rows =
    "problem" in asked
      ? []
      : await read(deps, visit, tab, { ...asked, isRevoked: search.state === "revoked", before });
  const shown = rows.slice(0, ON_A_PAGE);
  const textOf = await actorTexts(
    deps,
    organisation.id,
    shown.flatMap(({ grantedBy, revokedBy }) => [grantedBy, revokedBy ?? []].flat()),
    frame.messages,
  );
  const done = values.get("done") ?? "";
  const { done: doneTexts } = frame.messages.console.consents;
  const page = consentsPage({
    ...frame,
    tab,
    tabUris: {
      consents: consolePath(organisation, "/consents"),
      preauthorizations: consolePath(organisation, "/preauthorizations"),
    },
    newUri: consolePath(organisation, `/${tab}/new`),
    search,
    isSearch:
      search.user !== "" || search.application !== "" || search.kind !== "" || search.state !== "living",
    problem: "problem" in asked ? asked.problem : undefined,
    choices: "problem" in asked ? asked.choices : [],
    rows: shown.map((consent) => ({
      consent,
      by: textOf(consent.grantedBy),
      revokedBy: consent.revokedBy === null ? undefined : textOf(consent.revokedBy),
      applicationUri: consolePath(organisation, `/applications/${consent.application.id}`),
      userUri: consent.user?.email ? consolePath(organisation, `/users/${consent.user.id}`) : undefined,
      revokeUri: consolePath(
        organisation,
        `/${tab}/${consent.id}/${tab === "consents" ? "revoke" : "delete"}`,
      ),
    })),
    newestUri: before === undefined ? undefined : listAt(visit, tab, search),
    olderUri:
      rows.length > shown.length ? listAt(visit, tab, search, { before: shown.at(-1)?.id }) : undefined,
    done: Object.hasOwn(doneTexts, done) ? (done as keyof typeof doneTexts) : undefined,
  });
  await show(visit, frame, page);
}

type LookedUp =
  | Pick<ConsentSearch, "applicationId" | "userId" | "kind">
  | (Pick<ConsentsView, "choices"> & { readonly problem: NonNullable<ConsentsView["problem"]> });

/** Whom and what the filters mean: records of this organisation, or why there is nothing to list. */
async function lookUp(
  deps: ConsoleDeps,
  visit: Visit,
  tab: ConsentsTab,
  search: ConsentsView["search"],
): Promise<LookedUp> {
  const { id: orgId } = visit.organisation;
  const found =
    search.application === "" ? undefined : await findApplicationBy(deps, orgId, search.application);
  if (found?.kind === "none") return { problem: "unknownApplication", choices: [] };
  if (found?.kind === "several") {
    const choices = found.applications.map(({ id, name }) => ({
      name,
      uri: listAt(visit, tab, { ...search, application: id }),
    }));
    return { problem: "several", choices };
  }
  const account =
    search.user === ""
      ? undefined
      : await findSignInAccount(deps.database.query, orgId, emailKey(search.user));
  if (search.user !== "" && !account) return { problem: "unknownUser", choices: [] };
  const kind = search.kind === "user" || search.kind === "organisation" ? search.kind : undefined;
  return { applicationId: found?.application.id, userId: account?.user.id, kind };
}

function read(
  { database }: ConsoleDeps,
  { organisation }: Visit,
  tab: ConsentsTab,
  { before, ...search }: Omit<ConsentSearch, "limit">,
): Promise<ListedConsent[]> {
  const asked = {
    ...search,
    before: before !== undefined && isUuid(before) ? before : undefined,
    limit: ON_A_PAGE + 1,
  };
  return tab === "consents"
    ? listNamedConsents(database.query, organisation.id, asked)
    : listNamedPreauthorizations(database.query, organisation.id, asked);
}
