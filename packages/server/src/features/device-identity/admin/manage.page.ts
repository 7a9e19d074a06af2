/** The device list page: devices, open enrolment codes, and the form that creates a code. */
import type { AttestationPolicy, EnrolmentCode } from "../../../core/devices/device.ts";
import { type BadgeKind, badge } from "../../../html/components/badge.ts";
import { card } from "../../../html/components/card.ts";
import { consoleLayout } from "../../../html/components/console-layout.ts";
import { emptyState } from "../../../html/components/empty-state.ts";
import { selectField } from "../../../html/components/fields.ts";
import { filterBar, noResults } from "../../../html/components/filter-bar.ts";
import { formNotice } from "../../../html/components/form-page.ts";
import type { FormView } from "../../../html/components/form-state.ts";
import { pagination } from "../../../html/components/pagination.ts";
import { relativeTime, timeWithin } from "../../../html/components/relative-time.ts";
import { nameCell, type Row, rowLink, table } from "../../../html/components/table.ts";
import { toast } from "../../../html/components/toast.ts";
import { type Content, type Html, html, linkAddress } from "../../../html/html.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { type DeviceState, deviceStates, type ListedDevice } from "./device-list.store.ts";
import { type ManageUri, manageTabs } from "./page-and-api.ts";
import { registerForm } from "./register-form.ts";
import type { RegisterInput } from "./register-input.ts";

export type ManageView = FormView<RegisterInput> & {
  manageUri: ManageUri;
  done?: keyof Messages["devices"]["done"] | undefined;
  search: { text: string; state: DeviceState | undefined };
  /** Newest first; without a change for devices older than the audit log. */
  devices: ReadonlyArray<ListedDevice & { lastChange: { who: string; at: number } | undefined }>;
  newestUri?: string | undefined;
  olderUri?: string | undefined;
  codes: readonly ListedCode[];
  olderCodesUri?: string | undefined;
  /** The organisation's. */
  policy: AttestationPolicy;
};

export type ListedCode = EnrolmentCode & {
  /** The name or id of the device it replaces. */
  replacedName: string | undefined;
  author: { readonly email: string } | "operator" | "program" | "formerUser";
};

export function managePage(view: ManageView): Html {
  const { messages, done } = view;
  const text = messages.devices;
  const { name, attestation, expiresIn, replaces } = text.register;
  const labels = { name, attestation, expiresIn, replaces };
  return consoleLayout({
    ...view,
    title: text.title,
    breadcrumbs: [],
    summary: text.summary({ organisation: view.organisation.name }),
    notice: formNotice({ ...view, labels }) ?? (done && toast(text.done[done], view.messages)),
    body: [manageTabs("list", view), deviceList(view), openCodes(view), registerForm(view)],
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
          devices.length === 0 ? noResults(messages) : deviceTable(view),
          pagination({ newestUri: view.newestUri, olderUri: view.olderUri, messages }),
        ],
  });
}

function deviceSearch({ manageUri, search, messages }: ManageView, isSearch: boolean): Html {
  const { list: text } = messages.devices;
  return filterBar({
    action: manageUri(),
    label: text.search,
    value: search.text,
    isSearch,
    filters: selectField({
      id: "state",
      label: text.state,
      value: search.state ?? "",
      choices: [
        { value: "", label: text.anyState },
        ...deviceStates.map((value) => ({ value, label: text.states[value] })),
      ],
      messages,
    }),
    messages,
  });
}

function deviceTable(view: ManageView): Html {
  const { list: text } = view.messages.devices;
  return table({
    label: text.heading,
    columns: [text.device, text.state, text.proof, text.until, text.seen],
    rows: view.devices.map((device) => deviceRow(device, view)),
    messages: view.messages,
  });
}

const kinds: Readonly<Record<DeviceState, BadgeKind>> = { active: "good", expired: "warn", revoked: "bad" };

function deviceRow(device: ManageView["devices"][number], view: ManageView): Row {
  const { messages } = view;
  const { list: text } = messages.devices;
  const { frame } = messages.console;
  const { day, minute } = messages.format;
  const { id, name, attestation, revokedAt, certificate, lastSeenAt, lastChange } = device;
  return {
    id: `device-${id}`,
    cells: [
      [
        nameCell({ name }),
        name !== id && html`<code>${id}</code>`,
        html`<span class="quiet item-note">${text.enrolled({ at: device.enrolledAt })}</span>`,
        lastChange &&
          html`<span class="quiet item-note">${timeWithin(frame.lastChange(lastChange), lastChange.at, minute)}</span>`,
      ],
      [
        badge(kinds[device.state], text.states[device.state]),
        revokedAt !== null &&
          html` <span class="quiet item-note">${text.revokedOn({ at: revokedAt })}</span>`,
      ],
      attestation === "tpm" ? text.attested : text.unattested,
      certificate ? relativeTime(certificate.notAfter, day) : text.noCertificate,
      lastSeenAt === null ? text.never : relativeTime(lastSeenAt, minute),
    ],
    actions: device.state === "revoked" ? undefined : rowActions(device, view),
  };
}

function rowActions({ id, name }: ListedDevice, { manageUri, messages }: ManageView): Content {
  const { list: text } = messages.devices;
  const revokeUri = manageUri(`/${id}/revoke`);
  return [
    rowLink({
      id: `device-replace-${id}`,
      uri: manageUri(`?replaces=${id}#register`),
      text: text.replace,
      label: text.replaceOf({ name }),
    }),
    // The class lets automation find the link of each row.
    html`<a class="device-revoke" id="device-revoke-${id}" href="${linkAddress(revokeUri)}" aria-label="${text.revokeOf({ name })}">${text.revoke}</a>`,
  ];
}

/** Enrolment codes that can still be used. */
function openCodes(view: ManageView): Html | undefined {
  const { codes, olderCodesUri, messages } = view;
  const { codes: text } = messages.devices;
  if (codes.length === 0) return undefined;
  const older =
    olderCodesUri !== undefined &&
    html`<div class="actions"><a class="button" id="codes-older" href="${linkAddress(olderCodesUri)}">${text.older}</a></div>`;
  return card({
    id: "codes",
    title: text.heading,
    body: html`<ul class="items">
${codes.map((code) => openCode(code, view))}</ul>
${older}`,
  });
}

function openCode(code: ListedCode, { manageUri, messages }: ManageView): Html {
  const { codes: text } = messages.devices;
  const { name, attestation, replacedName, author } = code;
  const who = typeof author === "object" ? author.email : text[author];
  return html`<li>
<div><span class="item-name"><bdi>${name ?? text.unnamed}</bdi>${attestation !== "none" && html` <span class="tag">${text.tpm[attestation]}</span>`}</span>
<span class="quiet item-note">${timeWithin(text.until({ at: code.expiresAt }), code.expiresAt, messages.format.minute)}, ${text.by({ who, at: code.createdAt })}</span>
${replacedName !== undefined && html`<span class="quiet item-note"><bdi>${text.replaces({ name: replacedName })}</bdi></span>`}</div>
<a class="code-withdraw" id="code-withdraw-${code.id}" href="${linkAddress(manageUri(`/codes/${code.id}/withdraw`))}" aria-label="${text.withdrawOf({ name: name ?? text.unnamed })}">${text.withdraw}</a>
</li>
`;
}
