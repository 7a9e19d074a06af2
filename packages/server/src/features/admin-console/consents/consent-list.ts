/** Consents as a list: active ones, or those that were revoked. */
import { rowLink } from "../../../html/components/table.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { bulkAct } from "../../../page-kit/list/bulk-act.ts";
import type { Filter, List, ListContext } from "../../../page-kit/list/list.ts";
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
import {
  applicationCell,
  type ConsentRow,
  dayBy,
  problemNotice,
  userCell,
  whoseConsent,
} from "./consents.page.ts";
import { countConsents, listNamedConsents } from "./consents.store.ts";
import { type FoundConsent, loadConsent, revocation } from "./revoke.route.ts";

const kinds = ["user", "organisation"] as const;
const states = ["living", "revoked"] as const;

/** `application`: an id, or part of a name. */
type ConsentChoices = { application: string; kind: (typeof kinds)[number]; state: (typeof states)[number] };

const isRevoked = ({ state }: Filter<ConsentChoices>): boolean => state === "revoked";

const consentsUri = (organisation: OrganisationId, rest = "") =>
  consolePath(organisation, `/consents${rest}`);

const resolveConsents = (context: ListContext<ConsoleDeps>, filter: Filter<ConsentChoices>) =>
  resolveNames(context, { application: filter.application, user: filter.search }, (application) =>
    filteredUri({ uri: consentsUri }, context.organisation, { ...filter, application }),
  );

const nameOfFound = ({ record, name, email }: FoundConsent, messages: Messages): string =>
  `${whoseConsent(record.userId === null ? undefined : { email: email ?? null }, messages)} – ${name}`;

export const consentList = {
  current: "consents",
  noun: "consent",
  savedAs: "consents",
  uri: consentsUri,
  texts: ({ console: { consents, frame } }, { name: organisation }) => ({
    ...consents,
    title: frame.pages.consents,
    summary: consents.summary({ organisation }),
    search: consents.user,
  }),
  filters: {
    application: {
      label: ({ console: { consents } }) => `${consents.application} (${consents.applicationHint})`,
    },
    kind: {
      label: ({ console: { consents } }) => consents.kind,
      any: ({ console: { consents } }) => consents.anyKind,
      choices: kinds,
      names: ({ console: { consents } }) => consents.kinds,
    },
    state: {
      label: ({ console: { consents } }) => consents.state,
      choices: states,
      names: ({ console: { consents } }) => consents.states,
    },
  },
  sorts,
  insteadOfRows: async (context, filter) => {
    const found = await resolveConsents(context, filter);
    return "problem" in found ? problemNotice(found.problem, context.messages) : undefined;
  },
  rows: async (context, { filter, page, limit }) => {
    const found = await resolveConsents(context, filter);
    if ("problem" in found) return [];
    const { database } = context.deps;
    const query = { ...found, kind: filter.kind, isRevoked: isRevoked(filter), page, limit };
    return withActors(context, await listNamedConsents(database.query, context.organisation.id, query));
  },
  count: async (context, filter, max) => {
    const found = await resolveConsents(context, filter);
    if ("problem" in found) return 0;
    const query = { ...found, kind: filter.kind, isRevoked: isRevoked(filter), max };
    return countConsents(context.deps.database.query, context.organisation.id, query);
  },
  columns: [
    { label: ({ console: { consents } }) => consents.columns.who, cell: userCell },
    { label: ({ console: { consents } }) => consents.columns.application, cell: applicationCell },
    ...grantColumns,
    {
      label: ({ console: { consents } }) => consents.columns.until,
      isShown: isRevoked,
      cell: ({ revokedAt, endedBy }, { messages }) => dayBy(revokedAt ?? 0, endedBy, messages),
    },
  ],
  nameOf: ({ user, application }, messages) => `${whoseConsent(user, messages)} – ${application.name}`,
  isSelectable: ({ revokedAt }) => revokedAt === null,
  acts: {
    revoke: bulkAct(({ console }) => console.consents.bulk.revoke, revocation, nameOfFound, {
      isRemoval: true,
    }),
  },
  findName: async (deps, organisation, id, messages) => {
    const found = await loadConsent(deps, organisation, { id });
    return found && nameOfFound(found, messages);
  },
  rowActions: ({ id, application, revokedAt }, { consoleUri, messages: { console } }) =>
    revokedAt === null
      ? rowLink({
          id: `consent-revoke-${id}`,
          uri: consoleUri(`/consents/${id}/revoke`),
          text: console.consents.revoke,
          label: console.consents.revokeOf({ application: application.name }),
          isQuestion: true,
        })
      : undefined,
  export: {
    name: "consents",
    isPersonal: true,
    columns: {
      ...exportColumns,
      userId: ({ user }) => user?.id ?? null,
      email: ({ user }) => user?.email ?? null,
      revokedBy: ({ endedBy }) => endedBy ?? null,
      revokedAt: ({ revokedAt }) => (revokedAt === null ? null : new Date(revokedAt)),
    },
  },
  create: (frame) => grantButton(frame, "consents", frame.messages.console.consents.grant),
  done: ({ console: { consents } }) => consents.done,
} satisfies List<ConsoleDeps, ConsentRow, "since", ConsentChoices>;
