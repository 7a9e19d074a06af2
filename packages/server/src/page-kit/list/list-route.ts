/** GET of a list: its page, and the rows that a script keeps up to date. */
import type { FastifyInstance } from "fastify";
import { type ConsoleFrame, consoleLayout } from "../../html/components/console-layout.ts";
import { liveStatus } from "../../html/components/live.ts";
import { toast } from "../../html/components/toast.ts";
import { type Content, type Html, html } from "../../html/html.ts";
import { liveScript } from "../../html/scripts.ts";
import { parseQuery } from "../../http/form-body.ts";
import { consoleFrame, doneKey } from "../console-frame.ts";
import { livePieceRoute } from "../live-piece.ts";
import {
  type CONSOLE,
  type ConsoleDeps,
  consoleRoute,
  requireAdministrator,
  show,
  type Visit,
} from "../page.ts";
import type { Choices, Filter, List } from "./list.ts";
import { listUri, readFilter } from "./list-address.ts";
import { renderList, renderLiveRows } from "./list-view.ts";

type Body = (section: Html, frame: ConsoleFrame, visit: Visit) => Content | Promise<Content>;

/** @param body the page around the list; a card of it alone by default */
export function listRoute<
  Deps extends ConsoleDeps,
  Row extends { readonly id: string },
  Sort extends string,
  C extends Choices,
>(
  app: FastifyInstance,
  deps: Deps,
  url: `${typeof CONSOLE}/${string}`,
  list: List<Deps, Row, Sort, C>,
  body?: Body,
): void {
  consoleRoute(app, deps, url, { get: (_, visit) => showListPage(deps, visit, list, body) });
}

/** For a route that is registered in another way. */
export async function showListPage<
  Deps extends ConsoleDeps,
  Row extends { readonly id: string },
  Sort extends string,
  C extends Choices,
>(
  deps: Deps,
  visit: Visit,
  list: List<Deps, Row, Sort, C>,
  body: Body = (section, { messages }, { organisation }) =>
    listCard(list.texts(messages, organisation).title, section),
): Promise<void> {
  const { organisation, request } = visit;
  const signedIn = await requireAdministrator(
    deps,
    visit,
    listUri(list, organisation, parseQuery(request).values),
  );
  const frame = await consoleFrame(deps, visit, signedIn, list.current);
  const { section, isEmpty } = await renderList(deps, visit, frame, signedIn, list);
  const filter: Filter<C> = readFilter(list.filters, parseQuery(request).values);
  const { title, summary } = list.texts(frame.messages, organisation, filter);
  const saved = list.savedAs === undefined ? {} : frame.messages.console.frame.savedFilters.done;
  const done: Readonly<Record<string, string>> = { ...list.done?.(frame.messages), ...saved };
  const doneAs = doneKey(visit, done);
  const text = doneAs && done[doneAs];
  const isLive = list.live !== undefined && !isEmpty;
  const page = consoleLayout({
    ...frame,
    title,
    summary,
    breadcrumbs: [],
    actions: isEmpty && !list.emptyAction ? undefined : [list.beside?.(frame, deps), list.create?.(frame)],
    notice: text === undefined ? undefined : toast(text, frame),
    scripts: isLive ? [liveScript.path] : [],
    body: [await body(section, frame, visit), isLive && liveStatus],
  });
  await show(visit, frame, page);
}

/** The rows of a list with `live`. */
export function listLiveRoute<
  Deps extends ConsoleDeps,
  Row extends { readonly id: string },
  Sort extends string,
  C extends Choices,
>(
  app: FastifyInstance,
  deps: Deps,
  url: `${typeof CONSOLE}/${string}/live`,
  list: List<Deps, Row, Sort, C>,
): void {
  livePieceRoute(app, deps, url, (_, visit, messages, signedIn) =>
    renderLiveRows(deps, visit, list, signedIn, messages),
  );
}

export const listCard = (title: string, section: Html): Html =>
  html`<section class="card" aria-label="${title}">
${section}</section>
`;
