/** Enrolment codes that can still be used, as a list. */
import type { EnrolmentCode } from "../../../core/devices/device.ts";
import { findDevice } from "../../../core/devices/devices.store.ts";
import { relativeTime } from "../../../html/components/relative-time.ts";
import { nameCell, rowLink } from "../../../html/components/table.ts";
import { html } from "../../../html/html.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { loadActorLabels } from "../../../page-kit/actor-names.ts";
import { bulkAct } from "../../../page-kit/list/bulk-act.ts";
import type { List, ListContext } from "../../../page-kit/list/list.ts";
import { countUsableCodes, searchUsableCodes } from "../enrol/enrolment-code.store.ts";
import { type ManageDeps, managePath } from "./page-and-api.ts";
import { withdrawal } from "./revoke.route.ts";

type CodeRow = EnrolmentCode & {
  readonly by: string;
  /** The name or id of the device it replaces. */
  readonly replacedName: string | undefined;
};

const nameOf = ({ name }: Pick<EnrolmentCode, "name">, { devices }: Messages): string =>
  name ?? devices.codes.unnamed;

async function withNames(
  { deps, organisation, messages }: ListContext<ManageDeps>,
  codes: readonly EnrolmentCode[],
): Promise<CodeRow[]> {
  const actors = codes.map(({ createdBy }) => createdBy);
  const label = await loadActorLabels(deps, organisation.id, actors, messages);
  return Promise.all(
    codes.map(async (code) => {
      const { replaces } = code;
      const replaced =
        replaces === null ? undefined : await findDevice(deps.database.query, organisation.id, replaces);
      return { ...code, by: label(code.createdBy), replacedName: replaced?.name ?? replaces ?? undefined };
    }),
  );
}

const filterOf = (search: string, { deps }: ListContext<ManageDeps>) => ({
  now: deps.clock(),
  text: search === "" ? undefined : search,
});

export const codeList = {
  current: "devices",
  noun: "code",
  savedAs: "device-codes",
  uri: (organisation, rest = "") => managePath(organisation, `/codes${rest}`),
  texts: ({ devices: { codes, list, nav } }) => ({
    title: nav.codes,
    summary: codes.summary,
    search: list.search,
    none: codes.none,
    noneText: codes.noneText,
  }),
  filters: {},
  // Ids rise with the time of creation.
  sorts: { created: { isNumber: false, isDescending: true, value: ({ id }) => id } },
  rows: async (context, { filter, page, limit }) => {
    const query = { ...filterOf(filter.search, context), page, limit };
    return withNames(
      context,
      await searchUsableCodes(context.deps.database.query, context.organisation.id, query),
    );
  },
  count: (context, { search }, max) =>
    countUsableCodes(context.deps.database.query, context.organisation.id, {
      ...filterOf(search, context),
      max,
    }),
  columns: [
    {
      label: ({ devices }) => devices.list.device,
      cell: (code, { messages }) =>
        nameCell({
          name: nameOf(code, messages),
          note: code.replacedName && messages.devices.codes.replaces({ name: code.replacedName }),
        }),
    },
    {
      label: ({ devices }) => devices.list.proof,
      cell: ({ attestation }, { messages: { devices } }) =>
        attestation === "none" ? devices.list.unattested : devices.codes.tpm[attestation],
    },
    {
      label: ({ devices }) => devices.list.until,
      cell: ({ expiresAt }, { messages: { format } }) => relativeTime(expiresAt, format.minute),
    },
    {
      label: ({ devices }) => devices.codes.createdBy,
      cell: ({ by }) => html`<bdi>${by}</bdi>`,
    },
    {
      label: ({ devices }) => devices.codes.created,
      sort: "created",
      cell: ({ createdAt }, { messages: { format } }) => relativeTime(createdAt, format.minute),
    },
  ],
  nameOf,
  acts: {
    withdraw: bulkAct(({ devices }) => devices.bulk.withdraw, withdrawal, nameOf, { isRemoval: true }),
  },
  findName: async (deps, organisation, id, messages) => {
    const code = await withdrawal.load(deps, organisation, { id });
    return code && nameOf(code, messages);
  },
  rowActions: (code, { organisation, messages }) => {
    const { codes: text } = messages.devices;
    return rowLink({
      id: `code-withdraw-${code.id}`,
      uri: managePath(organisation, `/codes/${code.id}/withdraw`),
      text: text.withdraw,
      label: text.withdrawOf({ name: nameOf(code, messages) }),
      className: "code-withdraw",
      isQuestion: true,
    });
  },
  export: {
    name: "enrolment-codes",
    isPersonal: true,
    columns: {
      id: ({ id }) => id,
      device: ({ name }) => name,
      attestation: ({ attestation }) => attestation,
      replaces: ({ replaces }) => replaces,
      createdBy: ({ by }) => by,
      createdAt: ({ createdAt }) => new Date(createdAt),
      expiresAt: ({ expiresAt }) => new Date(expiresAt),
    },
  },
} satisfies List<ManageDeps, CodeRow, "created">;
