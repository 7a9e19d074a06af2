/** /oauth/manage/{org}/consents and /preauthorizations: consents and who granted them (specification, "Consent"). */
import type { FastifyInstance } from "fastify";
import { emailKey } from "../../../core/users/user.ts";
import { findSignInAccount } from "../../../core/users/users.store.ts";
import { parseQuery } from "../../../http/form-body.ts";
import { loadActorLabels } from "../../../page-kit/actor-names.ts";
import { consoleFrame, doneKey } from "../../../page-kit/console-frame.ts";
import { ROWS_PER_PAGE, readCursor, splitPage } from "../../../page-kit/list-page.ts";
import {
  type ConsoleDeps,
  consolePath,
  consoleRoute,
  queryString,
  requireAdministrator,
  show,
  type Visit,
} from "../../../page-kit/page.ts";
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

export function consentsRoutes(app: FastifyInstance, deps: ConsoleDeps): void {
  consoleRoute(app, deps, "/oauth/manage/:org/consents", {
    get: (_, visit) => showList(deps, visit, "consents"),
  });
  consoleRoute(app, deps, "/oauth/manage/:org/preauthorizations", {
    get: (_, visit) => showList(deps, visit, "preauthorizations"),
  });
  grantRoutes(app, deps);
  revokeRoutes(app, deps);
}

type Values = ReadonlyMap<string, string>;

function readFilters(values: Values, tab: ConsentsTab): ConsentsView["search"] {
  const text = (name: string) => (values.get(name) ?? "").trim().slice(0, 254);
  const kind = text("kind");
  return {
    user: tab === "consents" ? text("search") : "",
    application: text(tab === "consents" ? "application" : "search"),
    kind: kind === "user" || kind === "organisation" ? kind : "",
    state: tab === "consents" && text("state") === "revoked" ? "revoked" : "living",
  };
}

/** @param more what differs from `search` */
function listUri(
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
  return consolePath(organisation, `/${tab}${queryString(query)}`);
}

async function showList(deps: ConsoleDeps, visit: Visit, tab: ConsentsTab): Promise<void> {
  const { organisation, request } = visit;
  const { values } = parseQuery(request);
  const search = readFilters(values, tab);
  const before = values.get("before");
  const signedIn = await requireAdministrator(deps, visit, listUri(visit, tab, search, { before }));
  const frame = await consoleFrame(deps, visit, signedIn, "consents");
  const filter = await resolveFilters(deps, visit, tab, search);
  const rows =
    "problem" in filter
      ? []
      : await findRows(deps, visit, tab, { ...filter, isRevoked: search.state === "revoked", before });
  const { shown, last } = splitPage(rows);
  const actorName = await loadActorLabels(
    deps,
    organisation.id,
    shown.flatMap(({ grantedBy, revokedBy }) => [grantedBy, revokedBy ?? []].flat()),
    frame.messages,
  );
  const page = consentsPage({
    ...frame,
    tab,
    search,
    isSearch:
      search.user !== "" || search.application !== "" || search.kind !== "" || search.state !== "living",
    problem: "problem" in filter ? filter.problem : undefined,
    choices: "problem" in filter ? filter.choices : [],
    rows: shown.map((consent) => ({
      consent,
      by: actorName(consent.grantedBy),
      revokedBy: consent.revokedBy === null ? undefined : actorName(consent.revokedBy),
    })),
    newestUri: before === undefined ? undefined : listUri(visit, tab, search),
    olderUri: last && listUri(visit, tab, search, { before: last.id }),
    done: doneKey(visit, frame.messages.console.consents.done),
  });
  await show(visit, frame, page);
}

type ResolvedFilters =
  | Pick<ConsentSearch, "applicationId" | "userId" | "kind">
  | (Pick<ConsentsView, "choices"> & { readonly problem: NonNullable<ConsentsView["problem"]> });

/** The records that the filters name, or why there is nothing to list. */
async function resolveFilters(
  deps: ConsoleDeps,
  visit: Visit,
  tab: ConsentsTab,
  search: ConsentsView["search"],
): Promise<ResolvedFilters> {
  const { id: orgId } = visit.organisation;
  const found =
    search.application === "" ? undefined : await findApplicationBy(deps, orgId, search.application);
  if (found?.kind === "none") return { problem: "unknownApplication", choices: [] };
  if (found?.kind === "several") {
    const choices = found.applications.map(({ id, name }) => ({
      name,
      uri: listUri(visit, tab, { ...search, application: id }),
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

function findRows(
  { database }: ConsoleDeps,
  { organisation }: Visit,
  tab: ConsentsTab,
  { before, ...search }: Omit<ConsentSearch, "limit">,
): Promise<ListedConsent[]> {
  const page = { ...search, before: readCursor(before), limit: ROWS_PER_PAGE + 1 };
  return tab === "consents"
    ? listNamedConsents(database.query, organisation.id, page)
    : listNamedPreauthorizations(database.query, organisation.id, page);
}
