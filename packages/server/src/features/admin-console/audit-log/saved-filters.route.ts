/** audit-log/filters: saves a search under a name, and deletes it. */
import type { FastifyInstance } from "fastify";
import { deleteFilter, listFilters, type SavedFilter } from "../../../core/audit/filters/filters.store.ts";
import { isFilterName, MAX_FILTERS, saveFilter } from "../../../core/audit/filters/filters.ts";
import type { SignedIn } from "../../../core/sessions/session.ts";
import { facts } from "../../../html/components/card.ts";
import { textField } from "../../../html/components/fields.ts";
import { fieldsOf, formPage } from "../../../html/components/form-page.ts";
import type { FormShown, FormView } from "../../../html/components/form-state.ts";
import { type Html, html } from "../../../html/html.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { parseQuery } from "../../../http/form-body.ts";
import { acceptOneTimeForm, applyOnce, duplicateSubmission } from "../../../page-kit/accept-form.ts";
import { actionText } from "../../../page-kit/audit-events/display-events.ts";
import {
  alreadyApplied,
  applied,
  type Confirmation,
  confirmationRoute,
} from "../../../page-kit/confirmation.ts";
import { pageMessages } from "../../../page-kit/console-frame.ts";
import { showFormPage } from "../../../page-kit/form-view.ts";
import {
  type ConsoleDeps,
  consolePath,
  consoleRoute,
  redirectTo,
  requestPath,
  requireRecentAuthentication,
  type Visit,
} from "../../../page-kit/page.ts";
import { askForIdentity } from "../../../page-kit/reauthentication.ts";
import { type FilterInput, readFilterInput } from "./filter.ts";
import { filterQuery } from "./filter-form.page.ts";

export function savedFilterRoutes(app: FastifyInstance, deps: ConsoleDeps): void {
  consoleRoute(app, deps, "/oauth/manage/:org/audit-log/filters/new", { get: showNew, post: save });
  confirmationRoute(app, deps, "/oauth/manage/:org/audit-log/filters/:id/delete", deletion);
}

type FilterForm = FilterInput & { name: string };

async function showNew(deps: ConsoleDeps, visit: Visit): Promise<void> {
  const input = readFilterInput(parseQuery(visit.request).values);
  const returnTo = `${requestPath(visit)}?${filterQuery(input)}`;
  const signedIn = await requireRecentAuthentication(deps, visit, returnTo);
  await showForm(deps, visit, signedIn, { input: { ...input, name: "" } });
}

const showForm = (deps: ConsoleDeps, visit: Visit, signedIn: SignedIn, shown: FormShown<FilterForm>) =>
  showFormPage(deps, visit, signedIn, "auditLog", shown, (view) => savePage(view, visit));

function savePage(view: FormView<FilterForm>, { organisation }: Visit): Html {
  const { messages, input } = view;
  const { auditLog, frame } = messages.console;
  const { saved: text } = auditLog;
  const { name: _, ...filter } = input;
  const labels = { name: text.name };
  const back = view.consoleUri("/audit-log");
  return formPage({
    ...view,
    labels,
    title: text.title,
    summary: text.text({ organisation: organisation.name }),
    breadcrumbs: [{ label: frame.pages.auditLog, uri: back }],
    above: filterFacts(filter, messages),
    id: "filter-form",
    hidden: Object.entries(filter).map(([name, value]) => ({ name, value })),
    fields: textField({ ...fieldsOf(view, labels)("name"), maxLength: 60 }),
    submit: { id: "filter-submit", label: text.submit },
    cancelUri: `${back}?${filterQuery(filter)}`,
  });
}

/** What is saved, in the words of the search form. */
function filterFacts({ search, category, event, from, to }: FilterInput, messages: Messages): Html {
  const { filter: text, groups } = messages.console.auditLog;
  return facts([
    { label: text.search, content: search !== "" && html`<bdi>${search}</bdi>` },
    { label: text.category, content: category !== "" && groups[category] },
    { label: text.event, content: event !== "" && actionText(event, messages) },
    { label: text.from, content: from !== "" && from },
    { label: text.to, content: to !== "" && to },
  ]);
}

/** POST filters/new */
async function save(deps: ConsoleDeps, visit: Visit): Promise<void> {
  const { organisation } = visit;
  const form = await acceptOneTimeForm(deps, visit);
  if (form.outcome === "reauthenticate") return askForIdentity(deps, visit, form);
  const { signedIn, values } = form;
  const filter = readFilterInput(values);
  const name = (values.get("name") ?? "").trim().slice(0, 200);
  const rerender = (shown: Partial<FormShown<FilterForm>>) =>
    showForm(deps, visit, signedIn, { input: { ...filter, name }, ...shown });
  if (form.outcome === "rejected") return rerender(form.refusal);

  const { saved: text } = pageMessages(visit, signedIn).console.auditLog;
  if (!isFilterName(name)) return rerender({ state: { faults: { name: text.nameFault } }, status: 400 });
  const query = filterQuery(filter);
  const uri = consolePath(organisation, `/audit-log?${query}`);
  const wanted = { orgId: organisation.id, name, query };
  const isSaved = await applyOnce(deps, form, (inside) => saveFilter(inside, wanted));
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
  await redirectTo(visit, `${uri}${query === "" ? "" : "&"}done=saved`);
}

const deletion: Confirmation<ConsoleDeps, SavedFilter> = {
  current: "auditLog",
  load: async ({ database }, organisation, { id }) =>
    (await listFilters(database.query, organisation.id)).find((one) => one.id === id),
  backUri: (organisation, { query }) => consolePath(organisation, `/audit-log?${query}`),
  breadcrumbs: ({ messages, consoleUri }) => [
    { label: messages.console.frame.pages.auditLog, uri: consoleUri("/audit-log") },
  ],
  question: ({ console: { auditLog } }, { name }) => ({
    heading: auditLog.saved.deleteHeading({ name }),
    text: auditLog.saved.deleteText,
    confirm: auditLog.saved.deleteConfirm,
    confirmId: "filter-delete",
  }),
  apply: async ({ database }, { orgId }, { id, query }) =>
    (await deleteFilter(database.query, { orgId, id }))
      ? applied(consolePath({ id: orgId }, `/audit-log?${query}&done=deleted`))
      : alreadyApplied,
};
