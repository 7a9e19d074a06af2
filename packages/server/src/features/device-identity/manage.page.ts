import { type Content, type Html, html, linkAddress } from "../../html/html.ts";
import { contentLayout, type PageFrame, type PageOrganisation } from "../../html/layout.ts";
import type { Messages } from "../../html/messages/messages.ts";
import { notice } from "../../html/notice.ts";
import type { DeviceState } from "./device-list/store.ts";
import { type ManageNav, manageNav } from "./manage-nav.ts";
import { type OpenCodes, openCodes } from "./open-codes.ts";
import { type RegisterForm, registerForm } from "./register-form.ts";

export type ManageView = PageFrame & {
  organisation: PageOrganisation;
  nav: ManageNav;
  user: { email: string };
  /** What was just done. */
  done?: keyof Messages["devices"]["done"] | undefined;
  /** The page's own address. */
  listUri: string;
  /** What is looked for. */
  search: { text: string; state: DeviceState | undefined };
  /** Newest first; none with an empty search: there is no device at all. */
  devices: readonly ManagedDevice[];
  /** The pages before and after this one. */
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
  /** Milliseconds, as the others. */
  enrolledAt: number;
  revokedAt: number | null;
  certificateUntil: number | null;
  lastSeenAt: number | null;
  revokeUri: string;
  replaceUri: string;
};

/** The organisation's devices, the codes for new ones, and the form that makes a code. */
export function managePage(view: ManageView): Html {
  const text = view.messages.devices;
  return contentLayout({
    ...view,
    title: view.messages.frame.documentTitle(text.title, view.organisation.name),
    body: html`<div class="intro">${manageNav(view.nav, view.messages)}<h1>${text.title}</h1>
<p class="quiet">${text.signedInAs} <bdi>${view.user.email}</bdi></p>
<p class="quiet">${text.summary(view.organisation.name)}</p>
${view.done !== undefined && notice("hint", "devices-done", text.done[view.done])}</div>
<div class="cards">
${deviceList(view)}${openCodes(view.codes, view.messages)}${registerForm(view.form, view.messages)}</div>`,
  });
}

function deviceList(view: ManageView): Html {
  const { list: text } = view.messages.devices;
  const { devices, search } = view;
  const isSearch = search.text !== "" || search.state !== undefined;
  const isEmpty = devices.length === 0 && !isSearch && view.newestUri === undefined;
  const add = html`<a class="button" id="device-add" href="#register-title">${text.add}</a>`;
  return html`<section class="card" aria-labelledby="devices-title">
<div class="bar"><h2 id="devices-title">${text.heading}</h2>
${!isEmpty && add}</div>
${
  isEmpty
    ? html`<p class="item-name">${text.none}</p>
<p class="quiet">${text.noneText}</p>
<div class="actions">${add}</div>
`
    : [searchForm(view, isSearch), devices.length === 0 ? noneFound(text) : table(devices, text), pages(view)]
}</section>
`;
}

function searchForm({ listUri, search, messages }: ManageView, isSearch: boolean): Html {
  const { list: text } = messages.devices;
  const option = (state: DeviceState) =>
    html`<option value="${state}"${state === search.state && html` selected`}>${text.states[state]}</option>`;
  return html`<form class="search" method="get" action="${linkAddress(listUri)}" role="search">
<div class="field"><label for="search">${text.search}</label>
<input id="search" name="search" type="search" value="${search.text}" maxlength="100" autocomplete="off"></div>
<div class="field"><label for="state">${text.state}</label>
<select id="state" name="state"><option value="">${text.anyState}</option>${(["active", "expired", "revoked"] as const).map(option)}</select></div>
<button class="button" id="search-submit" type="submit">${text.submit}</button>
${isSearch && html`<a class="button" id="search-all" href="${linkAddress(listUri)}">${text.all}</a>`}</form>
`;
}

const noneFound = (text: Messages["devices"]["list"]): Html =>
  html`<div role="status"><p class="item-name">${text.noneFound}</p>
<p class="quiet">${text.noneFoundText}</p></div>
`;

/** With its roles said: on a narrow screen the style sheet makes records of the rows. */
function table(devices: readonly ManagedDevice[], text: Messages["devices"]["list"]): Html {
  const heading = (name: string) => html`<th role="columnheader" scope="col">${name}</th>`;
  const headings = [text.device, text.state, text.proof, text.until, text.seen, text.actions];
  return html`<table class="table" role="table" aria-labelledby="devices-title">
<thead role="rowgroup"><tr role="row">${headings.map(heading)}</tr></thead>
<tbody role="rowgroup">
${devices.map((device) => row(device, text))}</tbody>
</table>
`;
}

function row(device: ManagedDevice, text: Messages["devices"]["list"]): Html {
  const { name, state, revokedAt, certificateUntil, lastSeenAt } = device;
  const cell = (label: string, content: Content) =>
    html`<td role="cell" data-label="${label}"><div>${content}</div></td>
`;
  return html`<tr role="row" id="device-${device.id}">
<td role="cell"><bdi class="item-name">${name}</bdi>
${name !== device.id && html`<code>${device.id}</code>`}<span class="quiet item-note">${text.enrolled(device.enrolledAt)}</span></td>
${cell(text.state, [
  html`<span class="state ${state}">${text.states[state]}</span>`,
  revokedAt !== null && html` <span class="quiet item-note">${text.revokedOn(revokedAt)}</span>`,
])}${cell(text.proof, device.isAttested ? text.attested : text.unattested)}${cell(
  text.until,
  certificateUntil === null ? text.noCertificate : time(certificateUntil, text.day),
)}${cell(text.seen, lastSeenAt === null ? text.never : time(lastSeenAt, text.minute))}<td role="cell"><div class="row-actions">${
    state === "revoked"
      ? undefined
      : html`<a href="${linkAddress(device.replaceUri)}" aria-label="${text.replaceOf(name)}">${text.replace}</a>
<a class="device-revoke" id="device-revoke-${device.id}" href="${linkAddress(device.revokeUri)}" aria-label="${text.revokeOf(name)}">${text.revoke}</a>`
  }</div></td>
</tr>
`;
}

const time = (milliseconds: number, words: (milliseconds: number) => string): Html =>
  html`<time datetime="${new Date(milliseconds).toISOString()}">${words(milliseconds)}</time>`;

function pages({ newestUri, olderUri, messages }: ManageView): Html | undefined {
  const { list: text } = messages.devices;
  if (newestUri === undefined && olderUri === undefined) return undefined;
  return html`<nav class="actions" aria-label="${text.pages}">
${newestUri !== undefined && html`<a class="button" id="devices-newest" href="${linkAddress(newestUri)}">${text.newest}</a>`}
${olderUri !== undefined && html`<a class="button" id="devices-older" href="${linkAddress(olderUri)}">${text.older}</a>`}
</nav>
`;
}
