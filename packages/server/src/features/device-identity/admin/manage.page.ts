/** The device list page: devices, the newest enrolment codes, and the form that creates a code. */
import type { AttestationPolicy, EnrolmentCode } from "../../../core/devices/device.ts";
import {
  type DevicesByState,
  deviceStates,
  MAX_DEVICES,
} from "../../../core/devices/devices-by-state.store.ts";
import { tag } from "../../../html/components/badge.ts";
import { buttonLink } from "../../../html/components/button.ts";
import { card } from "../../../html/components/card.ts";
import { chartLegend } from "../../../html/components/charts/chart.ts";
import { chartCard } from "../../../html/components/charts/chart-card.ts";
import { consoleLayout } from "../../../html/components/console-layout.ts";
import { formNotice } from "../../../html/components/form-page.ts";
import type { FormView } from "../../../html/components/form-state.ts";
import { timeWithin } from "../../../html/components/relative-time.ts";
import { rowLink } from "../../../html/components/table.ts";
import { toast } from "../../../html/components/toast.ts";
import { type Html, html } from "../../../html/html.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { type ChartTimes, type RangeName, rangeLinks } from "../../../page-kit/activity-range.ts";
import { listCard } from "../../../page-kit/list/list-route.ts";
import type { RenderedList } from "../../../page-kit/list/list-view.ts";
import { type ManageUri, manageTabs } from "./page-and-api.ts";
import { registerForm } from "./register-form.ts";
import type { RegisterInput } from "./register-input.ts";

export type ManageView = FormView<RegisterInput> & {
  manageUri: ManageUri;
  /** The page with another range of its charts, and its list as it is. @param query of the range */
  rangeUri(query: string): string;
  done?: keyof Messages["devices"]["done"] | undefined;
  devices: RenderedList;
  charts: DeviceCharts;
  codes: readonly ListedCode[];
  /** There are more than these. */
  hasMoreCodes: boolean;
  /** The organisation's. */
  policy: AttestationPolicy;
};

export type DeviceCharts = ChartTimes & { range: RangeName; devices: DevicesByState };

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
    actions:
      !view.devices.isEmpty &&
      // A fragment, which buttonLink doesn't support.
      html`<a class="button primary" id="device-add" href="#register">${text.list.add}</a>`,
    notice: formNotice({ ...view, labels }) ?? (done && toast(text.done[done], view)),
    body: [
      manageTabs("list", view),
      listCard(text.list.heading, view.devices.section),
      openCodes(view),
      registerForm(view),
      !view.devices.isEmpty && overTime(view),
    ],
  });
}

const tones = { active: "plain", expired: "warn", revoked: "bad" } as const;

/** At the end of each hour or day, and as it is now. */
function overTime({ charts, rangeUri, messages }: ManageView): Html {
  const { from, points, ticks, range, devices } = charts;
  const { charts: text, activity, range: words } = messages.console.overview;
  const { states } = messages.devices.list;
  const { format } = messages;
  const series = deviceStates.map((state) => ({
    ...{ label: states[state], tone: tones[state], counts: devices.overTime[state] },
    figure: format.number(devices.now[state]),
  }));
  const all = deviceStates.reduce((sum, state) => sum + devices.now[state], 0);
  return html`<section class="activity" aria-labelledby="activity-title">
<div class="bar"><h2 id="activity-title">${activity}</h2>
${rangeLinks(range, rangeUri, messages)}</div>
${chartCard({
  ...{ id: "devices-by-state", title: text.devices, form: "bars", series, range: words[range] },
  ...{ from, points, ticks, messages, legend: chartLegend(series) },
  text: all >= MAX_DEVICES ? text.newestDevices({ count: MAX_DEVICES }) : undefined,
})}</section>
`;
}

/** The newest enrolment codes that can still be used; all of them are a list of their own. */
function openCodes(view: ManageView): Html | undefined {
  const { codes, hasMoreCodes, manageUri, messages } = view;
  const { codes: text } = messages.devices;
  if (codes.length === 0) return undefined;
  const all =
    hasMoreCodes &&
    html`<div class="actions">${buttonLink({ id: "codes-all", uri: manageUri("/codes"), label: text.all })}</div>`;
  return card({
    id: "codes",
    title: text.heading,
    body: html`<ul class="items">
${codes.map((code) => openCode(code, view))}</ul>
${all}`,
  });
}

function openCode(code: ListedCode, { manageUri, messages }: ManageView): Html {
  const { codes: text } = messages.devices;
  const { name, attestation, replacedName, author } = code;
  const who = typeof author === "object" ? author.email : text[author];
  return html`<li>
<div><span class="item-name"><bdi>${name ?? text.unnamed}</bdi>${attestation !== "none" && html` ${tag(text.tpm[attestation])}`}</span>
<span class="quiet item-note">${timeWithin(text.until({ at: code.expiresAt }), code.expiresAt, messages.format.minute)}, ${text.by({ who, at: code.createdAt })}</span>
${replacedName !== undefined && html`<span class="quiet item-note"><bdi>${text.replaces({ name: replacedName })}</bdi></span>`}</div>
${rowLink({
  id: `code-withdraw-${code.id}`,
  uri: manageUri(`/codes/${code.id}/withdraw`),
  text: text.withdraw,
  label: text.withdrawOf({ name: name ?? text.unnamed }),
  className: "code-withdraw",
  isQuestion: true,
})}
</li>
`;
}
