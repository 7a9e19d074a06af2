/** saved-filters: saves a search of a list under a name, and deletes it. */
import type { FastifyInstance } from "fastify";
import {
  deleteFilter,
  listFilters,
  type SavedFilter,
} from "../../../core/saved-filters/saved-filters.store.ts";
import { isFilterName, MAX_FILTERS, saveFilter } from "../../../core/saved-filters/saved-filters.ts";
import type { SignedIn } from "../../../core/sessions/session.ts";
import { facts } from "../../../html/components/card.ts";
import { textField } from "../../../html/components/fields.ts";
import { fieldsOf, formPage } from "../../../html/components/form-page.ts";
import type { FormShown, FormView } from "../../../html/components/form-state.ts";
import type { Html } from "../../../html/html.ts";
import { NotFound } from "../../../http/errors.ts";
import { parseQuery } from "../../../http/form-body.ts";
import { acceptOneTimeForm, applyOnce, duplicateSubmission } from "../../../page-kit/accept-form.ts";
import {
  alreadyApplied,
  applied,
  type Confirmation,
  confirmationRoute,
} from "../../../page-kit/confirmation.ts";
import { pageMessages } from "../../../page-kit/console-frame.ts";
import { showFormPage } from "../../../page-kit/form-view.ts";
import type { FilterHome } from "../../../page-kit/list/saved-filters.ts";
import {
  type ConsoleDeps,
  consoleRoute,
  queryString,
  redirectTo,
  requestPath,
  requireRecentAuthentication,
  type Visit,
} from "../../../page-kit/page.ts";
import { askForIdentity } from "../../../page-kit/reauthentication.ts";

/** By the name of the list, as it is stored. The first is meant by an address without one. */
export type FilterHomes = Readonly<Record<string, FilterHome>>;

export function savedFilterRoutes(app: FastifyInstance, deps: ConsoleDeps, homes: FilterHomes): void {
  consoleRoute(app, deps, "/oauth/manage/:org/saved-filters/new", {
    get: (_, visit) => showNew(deps, visit, homes),
    post: (_, visit) => save(deps, visit, homes),
  });
  confirmationRoute(app, deps, "/oauth/manage/:org/saved-filters/:id/delete", deletion(homes));
}

type Values = ReadonlyMap<string, string>;
type FilterForm = { name: string };

interface Wanted {
  readonly list: string;
  readonly home: FilterHome;
  /** As the list's own page reads it. */
  readonly query: string;
}

/** @throws NotFound for what is no list */
function readWanted(values: Values, homes: FilterHomes): Wanted {
  const list = values.get("list") ?? Object.keys(homes)[0] ?? "";
  const home = Object.hasOwn(homes, list) ? homes[list] : undefined;
  if (!home) throw new NotFound("list");
  return { list, home, query: home.query(valuesOf(values.get("query") ?? "")) };
}

const valuesOf = (query: string): Values => new Map(new URLSearchParams(query));

const searchOf = (query: string): string => (query === "" ? "" : `?${query}`);

async function showNew(deps: ConsoleDeps, visit: Visit, homes: FilterHomes): Promise<void> {
  const wanted = readWanted(parseQuery(visit.request).values, homes);
  const { list, query } = wanted;
  const returnTo = `${requestPath(visit)}${queryString({ list, query })}`;
  const signedIn = await requireRecentAuthentication(deps, visit, returnTo);
  await showForm(deps, visit, signedIn, wanted, { input: { name: "" } });
}

const showForm = (
  deps: ConsoleDeps,
  visit: Visit,
  signedIn: SignedIn,
  wanted: Wanted,
  shown: FormShown<FilterForm>,
) => showFormPage(deps, visit, signedIn, wanted.home.current, shown, (view) => savePage(view, visit, wanted));

function savePage(view: FormView<FilterForm>, { organisation }: Visit, { list, home, query }: Wanted): Html {
  const { frame } = view.messages.console;
  const { savedFilters: text } = frame;
  const labels = { name: text.name };
  return formPage({
    ...view,
    labels,
    title: text.title,
    summary: text.text({ organisation: organisation.name }),
    breadcrumbs: [{ label: frame.pages[home.current], uri: home.uri(organisation) }],
    above: facts(home.facts(valuesOf(query), view.messages, organisation)),
    id: "filter-form",
    hidden: [
      { name: "list", value: list },
      { name: "query", value: query },
    ],
    fields: textField({ ...fieldsOf(view, labels)("name"), maxLength: 60 }),
    submit: { id: "filter-submit", label: text.submit },
    cancelUri: home.uri(organisation, searchOf(query)),
  });
}

/** POST saved-filters/new */
async function save(deps: ConsoleDeps, visit: Visit, homes: FilterHomes): Promise<void> {
  const { organisation } = visit;
  const form = await acceptOneTimeForm(deps, visit);
  if (form.outcome === "reauthenticate") return askForIdentity(deps, visit, form);
  const { signedIn, values } = form;
  const wanted = readWanted(values, homes);
  const { list, home, query } = wanted;
  const name = (values.get("name") ?? "").trim().slice(0, 200);
  const rerender = (shown: Partial<FormShown<FilterForm>>) =>
    showForm(deps, visit, signedIn, wanted, { input: { name }, ...shown });
  if (form.outcome === "rejected") return rerender(form.refusal);

  const { savedFilters: text } = pageMessages(visit, signedIn).console.frame;
  if (!isFilterName(name)) return rerender({ state: { faults: { name: text.nameFault } }, status: 400 });
  const filter = { orgId: organisation.id, list, name, query };
  const isSaved = await applyOnce(deps, form, (inside) => saveFilter(inside, filter));
  const uri = home.uri(organisation, searchOf(query));
  if (isSaved === "duplicate-submission")
    return rerender(duplicateSubmission({ result: { label: name, uri } }));
  if (!isSaved) {
    const failure = {
      kind: "refused",
      title: text.full,
      text: text.fullText({ count: MAX_FILTERS }),
    } as const;
    return rerender({ failure, status: 409 });
  }
  await redirectTo(visit, withDone(home, organisation, query, "filter-saved"));
}

const withDone = (
  home: FilterHome,
  organisation: { id: string },
  query: string,
  done: "filter-saved" | "filter-deleted",
): string => home.uri(organisation, `${query === "" ? "?" : `?${query}&`}done=${done}`);

type Pending = SavedFilter & { readonly home: FilterHome };

const deletion = (homes: FilterHomes): Confirmation<ConsoleDeps, Pending> => ({
  // The list's own page is a breadcrumb.
  current: "overview",
  load: async ({ database }, organisation, { id }) => {
    const found = (await listFilters(database.query, organisation.id)).find((one) => one.id === id);
    const home = found && Object.hasOwn(homes, found.list) ? homes[found.list] : undefined;
    return found && home && { ...found, home };
  },
  backUri: (organisation, { home, query }) => home.uri(organisation, searchOf(query)),
  breadcrumbs: ({ messages }, { home, orgId }) => [
    { label: messages.console.frame.pages[home.current], uri: home.uri({ id: orgId }) },
  ],
  question: ({ console: { frame } }, { name }) => ({
    heading: frame.savedFilters.deleteHeading({ name }),
    text: frame.savedFilters.deleteText,
    confirm: frame.savedFilters.deleteConfirm,
    confirmId: "filter-delete",
  }),
  apply: async ({ database }, { orgId }, { home, id, query }) =>
    (await deleteFilter(database.query, { orgId, id }))
      ? applied(withDone(home, { id: orgId }, query, "filter-deleted"))
      : alreadyApplied,
});
