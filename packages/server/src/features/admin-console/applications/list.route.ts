/** GET applications: the organisation's applications, searched, sorted and paged; what can be done with ticked ones; a file of them. */
import type { FastifyInstance } from "fastify";
import {
  type ApplicationSort,
  countApplications,
  findApplication,
  type ListedApplication,
  searchApplications,
} from "../../../core/applications/applications.store.ts";
import { kindOf } from "../../../core/applications/kinds.ts";
import { avatar } from "../../../html/components/avatar.ts";
import { buttonLink } from "../../../html/components/button.ts";
import { relativeTime } from "../../../html/components/relative-time.ts";
import { nameCell } from "../../../html/components/table.ts";
import { html } from "../../../html/html.ts";
import { bulkAct } from "../../../page-kit/list/bulk-act.ts";
import { bulkHandlers } from "../../../page-kit/list/bulk-acts.ts";
import type { Filter, List } from "../../../page-kit/list/list.ts";
import { listExport } from "../../../page-kit/list/list-export.ts";
import { listRoute } from "../../../page-kit/list/list-route.ts";
import { type ConsoleDeps, consolePath, consoleRoute } from "../../../page-kit/page.ts";
import { applicationStatus } from "./application-status.ts";
import { deletion, statusChange } from "./record.route.ts";

export function applicationListRoutes(app: FastifyInstance, deps: ConsoleDeps): void {
  listRoute(app, deps, "/oauth/manage/:org/applications", applicationList);
  consoleRoute(app, deps, "/oauth/manage/:org/applications/bulk", bulkHandlers(applicationList));
  consoleRoute(app, deps, "/oauth/manage/:org/applications/export", { get: listExport(applicationList) });
}

const types = ["confidential", "spa", "native", "public"] as const;
const states = ["enabled", "disabled"] as const;

type ApplicationChoices = { type: (typeof types)[number]; state: (typeof states)[number] };

const toFilter = ({ search, type: clientType, state }: Filter<ApplicationChoices>) => ({
  text: search === "" ? undefined : search,
  clientType,
  state,
});

const nameOf = ({ name }: { readonly name: string }): string => name;

export const applicationList = {
  current: "applications",
  noun: "application",
  savedAs: "applications",
  uri: (organisation, rest = "") => consolePath(organisation, `/applications${rest}`),
  texts: ({ console: { applications, frame } }) => ({
    ...applications.list,
    title: frame.pages.applications,
  }),
  filters: {
    type: {
      label: ({ console: { applications } }) => applications.list.kind,
      any: ({ console: { applications } }) => applications.list.anyType,
      choices: types,
      names: ({ console: { applications } }) => applications.types,
    },
    state: {
      label: ({ console: { applications } }) => applications.list.state,
      any: ({ console: { applications } }) => applications.list.anyState,
      choices: states,
      names: ({ console: { applications } }) => applications.list,
    },
  },
  sorts: {
    // Ids rise with the time of creation.
    created: { isNumber: false, isDescending: true, value: ({ id }) => id },
    name: { isNumber: false, isDescending: false, value: ({ nameOrder }) => nameOrder },
  },
  rows: ({ deps, organisation }, { filter, ...query }) =>
    searchApplications(deps.database.query, organisation.id, { ...toFilter(filter), ...query }),
  count: ({ deps, organisation }, filter, max) =>
    countApplications(deps.database.query, organisation.id, { ...toFilter(filter), max }),
  columns: [
    {
      label: ({ console: { applications } }) => applications.list.name,
      sort: "name",
      cell: ({ id, name, settings }, { consoleUri }) =>
        nameCell({
          name,
          uri: consoleUri(`/applications/${id}`),
          note: html`<code>${id}</code>`,
          logo: avatar(name, settings.logoUri),
        }),
    },
    {
      label: ({ console: { applications } }) => applications.list.kind,
      cell: (application, { messages }) => messages.console.applications.kinds[kindOf(application)],
    },
    {
      label: ({ console: { applications } }) => applications.list.state,
      cell: (application, { messages }) => applicationStatus(application, messages),
    },
    {
      label: ({ console: { applications } }) => applications.list.created,
      sort: "created",
      cell: ({ createdAt }, { messages }) => relativeTime(createdAt, messages.format.day),
    },
  ],
  nameOf,
  acts: {
    disable: bulkAct(({ console }) => console.applications.bulk.disable, statusChange(true), nameOf),
    enable: bulkAct(({ console }) => console.applications.bulk.enable, statusChange(false), nameOf, {
      isHarmless: true,
    }),
    remove: bulkAct(({ console }) => console.applications.bulk.remove, deletion, nameOf, {
      isPermanent: true,
    }),
  },
  findName: async ({ database }, { id: orgId }, id) =>
    (await findApplication(database.query, orgId, id))?.name,
  export: {
    name: "applications",
    columns: {
      id: ({ id }) => id,
      name: ({ name }) => name,
      type: kindOf,
      clientType: ({ clientType }) => clientType,
      status: ({ disabledAt }) => (disabledAt === null ? "enabled" : "disabled"),
      createdAt: ({ createdAt }) => new Date(createdAt),
      updatedAt: ({ updatedAt }) => new Date(updatedAt),
      redirectUris: ({ settings }) => settings.redirectUris.join(" "),
      grantTypes: ({ settings }) => settings.grantTypes.join(" "),
      allowedScopes: ({ settings }) => settings.allowedScopes.join(" "),
    },
  },
  create: ({ consoleUri, messages: { console } }) =>
    buttonLink({
      id: "application-new",
      uri: consoleUri("/applications/new"),
      label: console.applications.list.create,
      kind: "primary",
    }),
  emptyAction: ({ consoleUri, messages: { console } }) =>
    buttonLink({
      id: "first-quickstart",
      uri: consoleUri("/quickstart"),
      label: console.applications.list.quickstart,
    }),
  done: ({ console: { applications } }) => ({ deleted: applications.done.deleted }),
} satisfies List<ConsoleDeps, ListedApplication, ApplicationSort, ApplicationChoices>;
