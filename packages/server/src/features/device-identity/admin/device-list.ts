/** Devices as a list. */
import type { BadgeKind } from "../../../html/components/badge.ts";
import { badge } from "../../../html/components/badge.ts";
import { relativeTime } from "../../../html/components/relative-time.ts";
import { nameCell, rowLink } from "../../../html/components/table.ts";
import { type Content, html } from "../../../html/html.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { bulkAct } from "../../../page-kit/list/bulk-act.ts";
import type { Filter, List } from "../../../page-kit/list/list.ts";
import {
  countDevices,
  type DeviceSort,
  type DeviceState,
  deviceStates,
  type ListedDevice,
  searchDevices,
} from "./device-list.store.ts";
import { type ManageDeps, managePath } from "./page-and-api.ts";
import { reasonField, revocation } from "./revoke.route.ts";

export type DeviceRow = ListedDevice & { readonly nameOrder: string };

type DeviceChoices = { state: DeviceState };

const toFilter = ({ search, state }: Filter<DeviceChoices>) => ({
  text: search === "" ? undefined : search,
  state,
});

const nameOf = ({ name }: { readonly name: string }): string => name;

/** Of a state's badge. */
export const deviceBadges: Readonly<Record<DeviceState, BadgeKind>> = {
  active: "good",
  expired: "warn",
  revoked: "bad",
};

export const deviceList = {
  current: "devices",
  noun: "device",
  savedAs: "devices",
  keeps: ["range"],
  uri: managePath,
  texts: ({ devices: { list } }) => ({
    title: list.heading,
    search: list.search,
    none: list.none,
    noneText: list.noneText,
  }),
  filters: {
    state: {
      label: ({ devices }) => devices.list.state,
      any: ({ devices }) => devices.list.anyState,
      choices: deviceStates,
      names: ({ devices }) => devices.list.states,
    },
  },
  sorts: {
    // Ids rise with the time of enrolment.
    enrolled: { isNumber: false, isDescending: true, value: ({ id }) => id },
    name: { isNumber: false, isDescending: false, value: ({ nameOrder }) => nameOrder },
  },
  rows: ({ deps, organisation }, { filter, ...query }) =>
    searchDevices(deps.database.query, organisation.id, { ...toFilter(filter), ...query }, deps.clock()),
  count: ({ deps, organisation }, filter, max) =>
    countDevices(deps.database.query, organisation.id, { ...toFilter(filter), max }, deps.clock()),
  columns: [
    {
      label: ({ devices }) => devices.list.device,
      sort: "name",
      cell: deviceCell,
    },
    {
      label: ({ devices }) => devices.list.state,
      cell: ({ state, revokedAt }, { messages: { devices } }) => [
        badge(deviceBadges[state], devices.list.states[state]),
        revokedAt !== null &&
          html` <span class="quiet item-note">${devices.list.revokedOn({ at: revokedAt })}</span>`,
      ],
    },
    {
      label: ({ devices }) => devices.list.proof,
      cell: ({ attestation }, { messages: { devices } }) =>
        attestation === "tpm" ? devices.list.attested : devices.list.unattested,
    },
    {
      label: ({ devices }) => devices.list.until,
      cell: ({ certificate }, { messages: { devices, format } }) =>
        certificate ? relativeTime(certificate.notAfter, format.day) : devices.list.noCertificate,
    },
    {
      label: ({ devices }) => devices.list.seen,
      cell: ({ lastSeenAt }, { messages: { devices, format } }) =>
        lastSeenAt === null ? devices.list.never : relativeTime(lastSeenAt, format.minute),
    },
    {
      label: ({ devices }) => devices.list.registered,
      sort: "enrolled",
      cell: ({ enrolledAt }, { messages: { format } }) => relativeTime(enrolledAt, format.day),
    },
  ],
  nameOf,
  isSelectable: ({ state }) => state !== "revoked",
  acts: {
    revoke: bulkAct(({ devices }) => devices.bulk.revoke, revocation, nameOf, {
      fields: reasonField,
      isRemoval: true,
    }),
  },
  findName: async (deps, organisation, id) => (await revocation.load(deps, organisation, { id }))?.name,
  rowActions: (device, { organisation, messages }) =>
    device.state === "revoked"
      ? undefined
      : rowActions(device, (rest) => managePath(organisation, rest), messages),
  export: {
    name: "devices",
    columns: {
      id: ({ id }) => id,
      name: nameOf,
      status: ({ state }) => state,
      attestation: ({ attestation }) => attestation,
      serial: ({ certificate }) => certificate?.serial ?? null,
      validUntil: ({ certificate }) => certificate && new Date(certificate.notAfter),
      enrolledAt: ({ enrolledAt }) => new Date(enrolledAt),
      lastSeenAt: ({ lastSeenAt }) => (lastSeenAt === null ? null : new Date(lastSeenAt)),
      revokedAt: ({ revokedAt }) => (revokedAt === null ? null : new Date(revokedAt)),
      revokedReason: ({ revokedReason }) => revokedReason,
    },
  },
  // A fragment, which buttonLink doesn't support.
  create: ({ messages: { devices } }) =>
    html`<a class="button primary" id="device-add" href="#register">${devices.list.add}</a>`,
} satisfies List<ManageDeps, DeviceRow, DeviceSort, DeviceChoices>;

function deviceCell({ orgId, id, name }: DeviceRow): Content {
  const uri = managePath({ id: orgId }, `/${id}`);
  return nameCell({ name, uri, note: name === id ? undefined : html`<code>${id}</code>` });
}

function rowActions(
  { id, name }: DeviceRow,
  manageUri: (rest: string) => string,
  { devices: { list: text } }: Messages,
): Content {
  return [
    rowLink({
      id: `device-replace-${id}`,
      uri: manageUri(`?replaces=${id}#register`),
      text: text.replace,
      label: text.replaceOf({ name }),
    }),
    rowLink({
      id: `device-revoke-${id}`,
      uri: manageUri(`/${id}/revoke`),
      text: text.revoke,
      label: text.revokeOf({ name }),
      // Lets automation find the link of each row.
      className: "device-revoke",
      isQuestion: true,
    }),
  ];
}
