/** GET applications: the organisation's applications, newest first. */
import { isUuid } from "@signet/protocol/hash";
import type { FastifyInstance } from "fastify";
import { searchApplications } from "../../../core/applications/applications.store.ts";
import { doneNotice } from "../../../html/components/record-form.ts";
import { queryOf } from "../../../http/form-body.ts";
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
import { applicationPath } from "./application-visit.ts";
import { type ListView, listedStates, listedTypes, listPage } from "./list.page.ts";

const ON_A_PAGE = 25;

export function applicationListRoute(app: FastifyInstance, deps: ConsoleDeps): void {
  consoleRoute(app, deps, "/applications", {
    get: async (visit) => {
      const { values } = queryOf(visit.request);
      const query = { search: values.get("search"), type: values.get("type"), state: values.get("state") };
      const path = consolePath(visit.organisation, `/applications${queryText(query)}`);
      const signedIn = await administratorHere(deps, visit, path);
      if (!signedIn) return;
      const frame = await consoleFrame(deps, visit, signedIn, "applications");
      const { done } = frame.messages.console.applications;
      const { organisation } = visit;
      const page = listPage({
        ...frame,
        listUri: consolePath(organisation, "/applications"),
        newUri: consolePath(organisation, "/applications/new"),
        quickstartUri: consolePath(organisation, "/quickstart"),
        uriOf: (id) => applicationPath(organisation, id),
        ...(await listed(deps, visit, values)),
        notice: values.get("done") === "deleted" ? doneNotice(done.deleted) : undefined,
      });
      await show(visit, frame, page);
    },
  });
}

async function listed(
  { database }: ConsoleDeps,
  { organisation }: Visit,
  values: ReadonlyMap<string, string>,
): Promise<Pick<ListView, "search" | "applications" | "newestUri" | "olderUri">> {
  const text = (values.get("search") ?? "").trim().slice(0, 100);
  const type = listedTypes.find((one) => one === values.get("type"));
  const state = listedStates.find((one) => one === values.get("state"));
  const cursor = values.get("after") ?? "";
  const after = isUuid(cursor) ? cursor.toLowerCase() : undefined;
  const rows = await searchApplications(database.query, organisation.id, {
    after,
    limit: ON_A_PAGE + 1,
    text: text === "" ? undefined : text,
    clientType: type,
    state,
  });
  const applications = rows.slice(0, ON_A_PAGE);
  const last = rows.length > ON_A_PAGE ? applications.at(-1) : undefined;
  const at = (id?: string) =>
    consolePath(organisation, `/applications${queryText({ search: text, type, state, after: id })}`);
  return {
    search: { text, type, state },
    applications,
    newestUri: after && at(),
    olderUri: last && at(last.id),
  };
}
