/** /oauth/manage/{org}/consents and /preauthorizations: consents and who granted them (specification, "Consent"). */
import type { FastifyInstance } from "fastify";
import { emailKey } from "../../../core/users/user.ts";
import { findSignInAccount } from "../../../core/users/users.store.ts";
import { parseQuery } from "../../../http/form-body.ts";
import { loadActorLabels } from "../../../page-kit/actor-names.ts";
import { doneKey, openPage } from "../../../page-kit/console-frame.ts";
import { pageUris, ROWS_PER_PAGE, readCursor, splitPage } from "../../../page-kit/list-page.ts";
import {
  type ConsoleDeps,
  consolePath,
  consoleRoute,
  queryString,
  show,
  type Visit,
} from "../../../page-kit/page.ts";
import { type ConsentsTab, type ConsentsView, consentsPage } from "./consents.page.ts";
import {
  type ConsentSearch,
  findApplicationsBy,
  listNamedConsents,
  listNamedPreauthorizations,
} from "./consents.store.ts";
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

function readFilters(values: ReadonlyMap<string, string>, tab: ConsentsTab): ConsentsView["search"] {
  const text = (name: string) => (values.get(name) ?? "").trim().slice(0, 254);
  const kind = text("kind");
  return {
    user: tab === "consents" ? text("search") : "",
    application: text(tab === "consents" ? "application" : "search"),
    kind: kind === "user" || kind === "organisation" ? kind : "",
    state: tab === "consents" && text("state") === "revoked" ? "revoked" : "living",
  };
}

function listUri(
  { organisation }: Visit,
  tab: ConsentsTab,
  search: ConsentsView["search"],
  before?: string,
): string {
  const { user, application, kind } = search;
  const state = search.state === "living" ? undefined : search.state;
  const query = tab === "consents" ? { search: user, application, kind, state } : { search: application };
  return consolePath(organisation, `/${tab}${queryString({ ...query, before })}`);
}

async function showList(deps: ConsoleDeps, visit: Visit, tab: ConsentsTab): Promise<void> {
  const { organisation, request } = visit;
  const { values } = parseQuery(request);
  const search = readFilters(values, tab);
  const before = values.get("before");
  const frame = await openPage(deps, visit, "consents", listUri(visit, tab, search, before));
  const filter = await resolveFilters(deps, visit, tab, search);
  const list = tab === "consents" ? listNamedConsents : listNamedPreauthorizations;
  const isRevoked = search.state === "revoked";
  const part = { isRevoked, before: readCursor(before), limit: ROWS_PER_PAGE + 1 };
  const rows =
    "problem" in filter ? [] : await list(deps.database.query, organisation.id, { ...filter, ...part });
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
    ...("problem" in filter ? filter : { problem: undefined, choices: [] }),
    rows: shown.map((consent) => ({
      ...consent,
      by: actorName(consent.grantedBy),
      endedBy: consent.revokedBy === null ? undefined : actorName(consent.revokedBy),
    })),
    ...pageUris((id) => listUri(visit, tab, search, id), before, last?.id),
    done: doneKey(visit, frame.messages.console.consents.done),
  });
  await show(visit, frame, page);
}

/** The records that the filters name, or why there is nothing to list. */
async function resolveFilters(
  { database }: ConsoleDeps,
  visit: Visit,
  tab: ConsentsTab,
  search: ConsentsView["search"],
): Promise<
  | Pick<ConsentSearch, "applicationId" | "userId" | "kind">
  | (Pick<ConsentsView, "choices"> & { readonly problem: NonNullable<ConsentsView["problem"]> })
> {
  const { id: orgId } = visit.organisation;
  const { application: named, user } = search;
  const found = named === "" ? undefined : await findApplicationsBy(database.query, orgId, named);
  if (found?.length === 0) return { problem: "unknownApplication", choices: [] };
  if (found && found.length > 1) {
    const choices = found.map(({ id, name }) => ({
      name,
      uri: listUri(visit, tab, { ...search, application: id }),
    }));
    return { problem: "several", choices };
  }
  const account = user === "" ? undefined : await findSignInAccount(database.query, orgId, emailKey(user));
  if (user !== "" && !account) return { problem: "unknownUser", choices: [] };
  const kind = search.kind === "" ? undefined : search.kind;
  return { applicationId: found?.[0]?.id, userId: account?.user.id, kind };
}
