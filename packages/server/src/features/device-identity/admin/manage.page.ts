/** The device list page: devices, open enrolment codes, and the form that creates a code. */
import { type ConsoleFrame, consoleLayout } from "../../../html/components/console-layout.ts";
import { selectField } from "../../../html/components/fields.ts";
import { card, emptyState, moment, type StateKind, state } from "../../../html/components/parts.ts";
import { failureNotice, successNotice } from "../../../html/components/record-form.ts";
import {
  nameCell,
  noResults,
  pager,
  type Row,
  rowLink,
  searchForm,
  table,
} from "../../../html/components/table.ts";
import { type Content, type Html, html, linkAddress } from "../../../html/html.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import type { DeviceState } from "./device-list.store.ts";
import { type OpenCodes, openCodes } from "./open-codes.ts";
import { type RegisterForm, registerFailure, registerForm } from "./register-form.ts";

export type ManageView = ConsoleFrame & {
  tabs: Html;
  done?: keyof Messages["devices"]["done"] | undefined;
  listUri: string;
  search: { text: string; state: DeviceState | undefined };
  /** Newest first. */
  devices: readonly ManagedDevice[];
  newestUri?: string | undefined;
  olderUri?: string | undefined;
  codes: OpenCodes;
  form: RegisterForm;
};

export type ManagedDevice = {
  id: string;
  name: string;
  state: DeviceState;
  isAttested: boolean;
  /** Milliseconds, as all times here. */
  enrolledAt: number;
  revokedAt: number | null;
  certificateUntil: number | null;
  lastSeenAt: number | null;
  /** Undefined for devices older than the audit log. */
  lastChange: { who: string; at: number } | undefined;
  revokeUri: string;
  replaceUri: string;
};

export function managePage(view: ManageView): Html {
  const { messages, done } = view;
  const text = messages.devices;
  const failure = failureNotice(registerFailure(view.form, messages), messages);
  return consoleLayout({
    ...view,
    title: text.title,
    breadcrumbs: [],
    summary: text.summary({ organisation: view.organisation.name }),
    notice: failure ?? (done === undefined ? undefined : successNotice(text.done[done])),
    body: [view.tabs, deviceList(view), openCodes(view.codes, messages), registerForm(view.form, messages)],
  });
}

function deviceList(view: ManageView): Html {
  const { messages, devices, search } = view;
  const { list: text } = messages.devices;
  const isSearch = search.text !== "" || search.state !== undefined;
  const isEmpty = devices.length === 0 && !isSearch && view.newestUri === undefined;
  // A fragment, which buttonLink doesn't support.
  const add = html`<a class="button${isEmpty && " primary"}" id="device-add" href="#register">${text.add}</a>`;
  return card({
    id: "devices",
    title: text.heading,
    actions: isEmpty ? undefined : add,
    body: isEmpty
      ? emptyState({ title: text.none, text: text.noneText, action: add })
      : [
          deviceSearch(view, isSearch),
          devices.length === 0 ? noResults(messages) : deviceTable(devices, messages),
          pager({ newestUri: view.newestUri, olderUri: view.olderUri, messages }),
        ],
  });
}

function deviceSearch({ listUri, search, messages }: ManageView, isSearch: boolean): Html {
  const { list: text } = messages.devices;
  const states = ["active", "expired", "revoked"] as const;
  return searchForm({
    action: listUri,
    label: text.search,
    value: search.text,
    isSearch,
    filters: selectField({
      id: "state",
      label: text.state,
      value: search.state ?? "",
      choices: [
        { value: "", label: text.anyState },
        ...states.map((value) => ({ value, label: text.states[value] })),
      ],
      messages,
    }),
    messages,
  });
}

function deviceTable(devices: readonly ManagedDevice[], messages: Messages): Html {
  const { list: text } = messages.devices;
  return table({
    label: text.heading,
    columns: [text.device, text.state, text.proof, text.until, text.seen],
    rows: devices.map((device) => deviceRow(device, messages)),
    messages,
  });
}

const kinds: Readonly<Record<DeviceState, StateKind>> = { active: "good", expired: "warn", revoked: "bad" };

function deviceRow(device: ManagedDevice, messages: Messages): Row {
  const { list: text } = messages.devices;
  const { frame } = messages.console;
  const { id, name, revokedAt, certificateUntil, lastSeenAt, lastChange } = device;
  return {
    id: `device-${id}`,
    cells: [
      [
        nameCell({ name }),
        name !== id && html`<code>${id}</code>`,
        html`<span class="quiet item-note">${text.enrolled({ at: device.enrolledAt })}</span>`,
        lastChange &&
          html`<span class="quiet item-note">${frame.lastChange({ who: lastChange.who, at: lastChange.at })}</span>`,
      ],
      [
        state(kinds[device.state], text.states[device.state]),
        revokedAt !== null &&
          html` <span class="quiet item-note">${text.revokedOn({ at: revokedAt })}</span>`,
      ],
      device.isAttested ? text.attested : text.unattested,
      certificateUntil === null ? text.noCertificate : moment(certificateUntil, messages.format.day),
      lastSeenAt === null ? text.never : moment(lastSeenAt, messages.format.minute),
    ],
    actions: device.state === "revoked" ? undefined : rowActions(device, text),
  };
}

function rowActions(
  { id, name, replaceUri, revokeUri }: ManagedDevice,
  text: Messages["devices"]["list"],
): Content {
  return [
    rowLink({
      id: `device-replace-${id}`,
      uri: replaceUri,
      text: text.replace,
      label: text.replaceOf({ name }),
    }),
    // The class lets automation find the link of each row.
    html`<a class="device-revoke" id="device-revoke-${id}" href="${linkAddress(revokeUri)}" aria-label="${text.revokeOf({ name })}">${text.revoke}</a>`,
  ];
}
