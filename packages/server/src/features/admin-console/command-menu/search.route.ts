/** GET search: what the command menu found, as JSON for its script and as a page without scripts. */
import type { FastifyInstance } from "fastify";
import { iconPath } from "../../../html/components/icons.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { PAGE_CHALLENGE } from "../../../http/challenge.ts";
import { parseQuery } from "../../../http/form-body.ts";
import { isProgram } from "../../../http/program.ts";
import { displayEvents } from "../../../page-kit/audit-events/display-events.ts";
import { consoleFrame, navigationSections, pageMessages } from "../../../page-kit/console-frame.ts";
import {
  type ConsoleDeps,
  consolePath,
  consoleRoute,
  failsLoginPolicy,
  queryString,
  requireAdministrator,
  show,
  type Visit,
} from "../../../page-kit/page.ts";
import { findResults } from "./find-results.ts";
import { type ResultGroup, resultGroups } from "./results-view.ts";
import { searchPage } from "./search.page.ts";

export function commandMenuRoute(app: FastifyInstance, deps: ConsoleDeps): void {
  consoleRoute(app, deps, "/oauth/manage/:org/search", { get: search });
}

const MAX_LETTERS = 100;

const readText = ({ request }: Visit): string =>
  (parseQuery(request).values.get("q") ?? "").trim().slice(0, MAX_LETTERS);

async function search(deps: ConsoleDeps, visit: Visit): Promise<void> {
  visit.reply.header("vary", "Accept");
  if (isProgram(visit.request)) return sendResults(deps, visit);
  const text = readText(visit);
  const returnTo = consolePath(visit.organisation, `/search${queryString({ q: text })}`);
  const signedIn = await requireAdministrator(deps, visit, returnTo);
  const frame = await consoleFrame(deps, visit, signedIn, undefined);
  const groups = await findGroups(deps, visit, text, frame.messages);
  const count = countText(groups, text, frame.messages);
  await show(visit, frame, searchPage({ ...frame, text, groups, count }));
}

/** For the menu's script: no answer is a redirect or a page. */
async function sendResults(deps: ConsoleDeps, visit: Visit): Promise<void> {
  const signedIn = await deps.browserSession.currentSession(visit);
  if (!signedIn) return sendJson(visit, 401, { error: "login_required" });
  if (signedIn.user.role !== "Administrator") return sendJson(visit, 403, { error: "access_denied" });
  if (await failsLoginPolicy(deps, visit, signedIn)) return sendJson(visit, 401, { error: "login_required" });
  const messages = pageMessages(visit, signedIn);
  const text = readText(visit);
  const groups = await findGroups(deps, visit, text, messages);
  const drawn = groups.map((group) => ({
    ...group,
    items: group.items.map((item) => ({ ...item, icon: iconPath(item.icon) })),
  }));
  await sendJson(visit, 200, { groups: drawn, status: countText(groups, text, messages) });
}

async function findGroups(
  deps: ConsoleDeps,
  visit: Visit,
  text: string,
  messages: Messages,
): Promise<ResultGroup[]> {
  const { organisation } = visit;
  const found = await findResults(deps.database.query, organisation.id, text);
  return resultGroups({
    messages,
    text,
    found,
    sections: navigationSections(visit, messages),
    consoleUri: (rest) => consolePath(organisation, rest),
    devicesUri: `/devices/manage/${organisation.id}`,
    events: await displayEvents(deps, organisation, found.events, messages),
  });
}

/** The link to the audit log's own search is no result. */
function countText(groups: readonly ResultGroup[], text: string, messages: Messages): string {
  if (text === "") return "";
  const { none, results } = messages.console.commandMenu;
  const count = groups.reduce((sum, { items }) => sum + items.length, -1);
  return count === 0 ? none({ text }) : results({ count });
}

async function sendJson({ reply }: Visit, status: number, body: object): Promise<void> {
  if (status === 401) reply.headers(PAGE_CHALLENGE);
  await reply.code(status).header("cache-control", "no-store").send(body);
}
