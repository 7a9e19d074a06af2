/** Pre-authorizations as a list. */
import { nameCell, rowLink } from "../../../html/components/table.ts";
import { bulkAct } from "../../../page-kit/list/bulk-act.ts";
import type { List, ListContext } from "../../../page-kit/list/list.ts";
import { filteredUri } from "../../../page-kit/list/list-address.ts";
import { type ConsoleDeps, consolePath } from "../../../page-kit/page.ts";
import {
  exportColumns,
  grantButton,
  grantColumns,
  type OrganisationId,
  resolveNames,
  sorts,
  withActors,
} from "./consent-rows.ts";
import { type ConsentRow, problemNotice } from "./consents.page.ts";
import { countPreauthorizations, listNamedPreauthorizations } from "./consents.store.ts";
import { deletion, loadPreauthorization } from "./revoke.route.ts";

const preauthorizationsUri = (organisation: OrganisationId, rest = "") =>
  consolePath(organisation, `/preauthorizations${rest}`);

const resolvePreauthorizations = (
  context: ListContext<ConsoleDeps>,
  { search }: { readonly search: string },
) =>
  resolveNames(context, { application: search }, (id) =>
    filteredUri({ uri: preauthorizationsUri }, context.organisation, { search: id }),
  );

export const preauthorizationList = {
  current: "consents",
  noun: "consent",
  savedAs: "preauthorizations",
  uri: preauthorizationsUri,
  texts: ({ console: { consents } }) => ({
    ...consents.preauthorizations,
    title: consents.tabs.preauthorizations,
    search: `${consents.application} (${consents.applicationHint})`,
  }),
  filters: {},
  sorts,
  insteadOfRows: async (context, filter) => {
    const found = await resolvePreauthorizations(context, filter);
    return "problem" in found ? problemNotice(found.problem, context.messages) : undefined;
  },
  rows: async (context, { filter, page, limit }) => {
    const found = await resolvePreauthorizations(context, filter);
    if ("problem" in found) return [];
    const { database } = context.deps;
    const query = { ...found, page, limit };
    return withActors(
      context,
      await listNamedPreauthorizations(database.query, context.organisation.id, query),
    );
  },
  count: async (context, filter, max) => {
    const found = await resolvePreauthorizations(context, filter);
    if ("problem" in found) return 0;
    return countPreauthorizations(context.deps.database.query, context.organisation.id, { ...found, max });
  },
  columns: [
    {
      label: ({ console: { consents } }) => consents.columns.application,
      cell: ({ application: { id, name } }, { consoleUri }) =>
        nameCell({ name, uri: consoleUri(`/applications/${id}`) }),
    },
    ...grantColumns,
  ],
  nameOf: ({ application }) => application.name,
  acts: {
    remove: bulkAct(
      ({ console }) => console.consents.bulk.remove,
      deletion,
      ({ name }) => name,
      { isRemoval: true },
    ),
  },
  findName: async (deps, organisation, id) => (await loadPreauthorization(deps, organisation, { id }))?.name,
  rowActions: ({ id, application: { name } }, { consoleUri, messages: { console } }) =>
    rowLink({
      id: `consent-revoke-${id}`,
      uri: consoleUri(`/preauthorizations/${id}/delete`),
      text: console.consents.preauthorizations.remove,
      label: console.consents.preauthorizations.removeOf({ application: name }),
      isQuestion: true,
    }),
  export: { name: "preauthorizations", isPersonal: true, columns: exportColumns },
  create: (frame) =>
    grantButton(frame, "preauthorizations", frame.messages.console.consents.preauthorizations.grant),
  done: ({ console: { consents } }) => consents.done,
} satisfies List<ConsoleDeps, ConsentRow, "since">;
