/** GET applications: the organisation's applications, searched, sorted and paged. */
import type { FastifyInstance } from "fastify";
import type { Application } from "../../../core/applications/application.ts";
import {
  type ApplicationSort,
  countApplications,
  searchApplications,
} from "../../../core/applications/applications.store.ts";
import { kindOf } from "../../../core/applications/kinds.ts";
import type { Db } from "../../../db/open.ts";
import { avatar } from "../../../html/components/avatar.ts";
import { buttonLink } from "../../../html/components/button.ts";
import type { ConsoleFrame } from "../../../html/components/console-layout.ts";
import { relativeTime } from "../../../html/components/relative-time.ts";
import { nameCell, type Row } from "../../../html/components/table.ts";
import { type Html, html } from "../../../html/html.ts";
import { parseQuery } from "../../../http/form-body.ts";
import { readingRoute } from "../../../page-kit/console-frame.ts";
import { listPage, readSearch } from "../../../page-kit/list-page.ts";
import {
  type ListPlace,
  orderQuery,
  placeRows,
  readListPlace,
  type Sorting,
  totalOf,
} from "../../../page-kit/list-place.ts";
import { type ConsoleDeps, consolePath, queryString, type Visit } from "../../../page-kit/page.ts";
import { applicationStatus } from "./application-status.ts";

export function applicationListRoute(app: FastifyInstance, deps: ConsoleDeps): void {
  readingRoute(app, deps, "/oauth/manage/:org/applications", "applications", showList, (visit) =>
    listUri(visit, parseQuery(visit.request).values),
  );
}

const types = ["confidential", "spa", "native", "public"] as const;
const states = ["enabled", "disabled"] as const;

type Filters = ReturnType<typeof readFilters>;

const readFilters = (values: ReadonlyMap<string, string>) => ({
  search: readSearch(values),
  type: types.find((one) => one === values.get("type")),
  state: states.find((one) => one === values.get("state")),
});

const sorts: Readonly<Record<ApplicationSort, Sorting>> = {
  created: { isNumber: false, isDescending: true },
  name: { isNumber: false, isDescending: false },
};

const listUri = ({ organisation }: Visit, values: ReadonlyMap<string, string>): string =>
  consolePath(
    organisation,
    `/applications${queryString({ ...readFilters(values), ...orderQuery(readListPlace(values, sorts), sorts) })}`,
  );

async function showList({ database }: ConsoleDeps, visit: Visit, frame: ConsoleFrame): Promise<Html> {
  const { values } = parseQuery(visit.request);
  const filters = readFilters(values);
  const { search, type, state } = filters;
  const { placed, total } = await loadRows(database.query, visit, filters, readListPlace(values, sorts));
  const { frame: words, applications } = frame.messages.console;
  const { list: text } = applications;
  const quickstart = { id: "first-quickstart", uri: frame.consoleUri("/quickstart"), label: text.quickstart };
  return listPage({
    ...frame,
    ...placed,
    range: { ...placed.range, ...total },
    title: words.pages.applications,
    summary: text.summary,
    path: "/applications",
    create: { id: "application-new", label: text.create },
    done: values.get("done") === "deleted" ? applications.done.deleted : undefined,
    label: text.search,
    search,
    filters: [
      {
        id: "type",
        label: text.type,
        any: text.anyType,
        value: type,
        choices: types,
        names: applications.types,
      },
      { id: "state", label: text.state, any: text.anyState, value: state, choices: states, names: text },
    ],
    empty: { title: text.none, text: text.noneText, action: buttonLink(quickstart) },
    columns: [
      { label: text.name, sort: placed.sortOf("name") },
      text.kind,
      text.state,
      { label: text.created, sort: placed.sortOf("created") },
    ],
    rows: placed.shown.map((application) => applicationRow(frame, application)),
  });
}

async function loadRows(
  query: Db,
  { organisation }: Visit,
  filters: Filters,
  place: ListPlace<ApplicationSort>,
) {
  const { search, type: clientType, state } = filters;
  const filter = { text: search === "" ? undefined : search, clientType, state };
  const { id: orgId } = organisation;
  const found = await searchApplications(query, orgId, { ...filter, page: place, limit: place.size + 1 });
  const placed = placeRows(found, place, {
    sorts,
    cursor: ({ id, nameOrder }) => ({ value: place.sort === "name" ? nameOrder : id, id }),
    uri: (more) => consolePath(organisation, `/applications${queryString({ ...filters, ...more })}`),
  });
  const total = await totalOf(placed, (max) => countApplications(query, orgId, { ...filter, max }));
  return { placed, total };
}

function applicationRow({ consoleUri, messages }: ConsoleFrame, application: Application): Row {
  const { id, name, settings, createdAt } = application;
  const link = nameCell({
    name,
    uri: consoleUri(`/applications/${id}`),
    note: html`<code>${id}</code>`,
    logo: avatar(name, settings.logoUri),
  });
  return {
    id: `application-${id}`,
    cells: [
      link,
      messages.console.applications.kinds[kindOf(application)],
      applicationStatus(application, messages),
      relativeTime(createdAt, messages.format.day),
    ],
  };
}
