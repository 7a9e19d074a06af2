/** GET applications: the organisation's applications, newest first. */
import type { FastifyInstance } from "fastify";
import type { Application } from "../../../core/applications/application.ts";
import { searchApplications } from "../../../core/applications/applications.store.ts";
import { kindOf } from "../../../core/applications/kinds.ts";
import type { ConsoleFrame } from "../../../html/components/console-layout.ts";
import { mark } from "../../../html/components/mark.ts";
import { buttonLink, moment } from "../../../html/components/parts.ts";
import { nameCell, type Row } from "../../../html/components/table.ts";
import { type Content, type Html, html } from "../../../html/html.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { parseQuery } from "../../../http/form-body.ts";
import { readingRoute } from "../../../page-kit/console-frame.ts";
import {
  filterField,
  listPage,
  pageUris,
  ROWS_PER_PAGE,
  readCursor,
  readSearch,
  splitPage,
} from "../../../page-kit/list-page.ts";
import { type ConsoleDeps, consolePath, queryString, type Visit } from "../../../page-kit/page.ts";
import { applicationStatus } from "./record.page.ts";

export function applicationListRoute(app: FastifyInstance, deps: ConsoleDeps): void {
  readingRoute(app, deps, "/oauth/manage/:org/applications", "applications", showList, (visit) => {
    const { values } = parseQuery(visit.request);
    const [search, type, state] = ["search", "type", "state"].map((name) => values.get(name));
    return consolePath(visit.organisation, `/applications${queryString({ search, type, state })}`);
  });
}

const listedTypes = ["confidential", "spa", "native", "public"] as const;
const listedStates = ["enabled", "disabled"] as const;

async function showList({ database }: ConsoleDeps, visit: Visit, frame: ConsoleFrame): Promise<Html> {
  const { organisation } = visit;
  const { values } = parseQuery(visit.request);
  const search = readSearch(values);
  const type = listedTypes.find((one) => one === values.get("type"));
  const state = listedStates.find((one) => one === values.get("state"));
  const after = readCursor(values.get("after"));
  const found = await searchApplications(database.query, organisation.id, {
    after,
    limit: ROWS_PER_PAGE + 1,
    text: search === "" ? undefined : search,
    clientType: type,
    state,
  });
  const { shown, last } = splitPage(found);
  const pageUri = (id?: string) =>
    consolePath(organisation, `/applications${queryString({ search, type, state, after: id })}`);
  const { frame: words, applications } = frame.messages.console;
  const { list: text } = applications;
  const quickstart = { id: "first-quickstart", uri: frame.consoleUri("/quickstart"), label: text.quickstart };
  return listPage({
    ...frame,
    ...pageUris(pageUri, after, last?.id),
    title: words.pages.applications,
    summary: text.summary,
    path: "/applications",
    create: { id: "application-new", label: text.create },
    done: values.get("done") === "deleted" ? applications.done.deleted : undefined,
    label: text.search,
    search,
    isSearch: search !== "" || type !== undefined || state !== undefined,
    filters: filterFields(type, state, frame.messages),
    empty: { title: text.none, text: text.noneText, action: buttonLink(quickstart) },
    columns: [text.name, text.kind, text.state, text.created],
    rows: shown.map((application) => applicationRow(frame, application)),
  });
}

function filterFields(
  type: (typeof listedTypes)[number] | undefined,
  state: (typeof listedStates)[number] | undefined,
  messages: Messages,
): Content {
  const { list: text, types } = messages.console.applications;
  return [
    filterField(messages, {
      id: "type",
      label: text.type,
      value: type,
      any: text.anyType,
      choices: listedTypes.map((value) => ({ value, label: types[value] })),
    }),
    filterField(messages, {
      id: "state",
      label: text.state,
      value: state,
      any: text.anyState,
      choices: listedStates.map((value) => ({ value, label: text[value] })),
    }),
  ];
}

function applicationRow({ consoleUri, messages }: ConsoleFrame, application: Application): Row {
  const { id, name, settings, createdAt } = application;
  const link = nameCell({ name, uri: consoleUri(`/applications/${id}`), note: html`<code>${id}</code>` });
  return {
    id: `application-${id}`,
    cells: [
      html`<div class="named">${mark(name, settings.logoUri)}<div>${link}</div></div>`,
      messages.console.applications.kinds[kindOf(application)],
      applicationStatus(application, messages),
      moment(createdAt, messages.format.day),
    ],
  };
}
