import {
  type AttestationPolicy,
  attestationPolicies,
  type EkTrust,
  ekTrustModes,
} from "../../core/devices/device.ts";
import { hiddenFields } from "../../html/form.ts";
import { type Html, html, linkAddress } from "../../html/html.ts";
import { contentLayout, type PageFrame, type PageOrganisation } from "../../html/layout.ts";
import type { Messages } from "../../html/messages/messages.ts";
import { notice } from "../../html/notice.ts";
import { type ManageNav, manageNav } from "./manage-nav.ts";

export type DevicePolicyView = PageFrame & {
  organisation: PageOrganisation;
  nav: ManageNav;
  user: { email: string };
  isSaved: boolean;
  isExpired?: boolean | undefined;
  action: string;
  csrf: string;
  policy: { attestation: AttestationPolicy; ekTrust: EkTrust };
  roots: TrustList;
  eks: TrustList;
};

/** The first records of a list that a command looks after. */
export type TrustList = {
  /** @property at milliseconds: the end of a root, the beginning of a key */
  items: readonly { name: string; fingerprint: string; at: number }[];
  /** There are others. */
  hasMore: boolean;
  addCommand: string;
  listCommand: string;
};

type Text = Messages["devices"]["policy"];

/** What is asked of devices, and which TPMs are believed. */
export function devicePolicyPage(view: DevicePolicyView): Html {
  const { devices } = view.messages;
  const text = devices.policy;
  return contentLayout({
    ...view,
    title: view.messages.frame.documentTitle(text.title, view.organisation.name),
    body: html`<div class="intro">${manageNav(view.nav, view.messages)}<h1>${text.title}</h1>
<p class="quiet">${devices.signedInAs} <bdi>${view.user.email}</bdi></p>
<p class="quiet">${text.summary(view.organisation.name)}</p>
${view.isSaved && notice("hint", "devices-done", devices.done.saved)}${view.isExpired && notice("error", "policy-notice", devices.expired, devices.expiredText)}</div>
<div class="cards">
${policyForm(view, text)}${trustList("roots-title", view.roots, {
  heading: text.roots,
  explanation: text.rootsText,
  none: text.noRoots,
  when: text.until,
  more: text.more,
})}${trustList("eks-title", view.eks, {
  heading: text.eks,
  explanation: text.eksText,
  none: text.noEks,
  when: text.added,
  more: text.more,
})}</div>`,
  });
}

function policyForm({ action, csrf, policy }: DevicePolicyView, text: Text): Html {
  const choice = (name: string, value: string, chosen: string, words: { label: string; text: string }) =>
    html`<div class="option"><input type="radio" id="${name}-${value}" name="${name}" value="${value}"${value === chosen && html` checked`} aria-describedby="${name}-${value}-text"><label for="${name}-${value}">${words.label}</label>
<p class="field-hint" id="${name}-${value}-text">${words.text}</p></div>
`;
  return html`<section class="card" aria-labelledby="policy-title">
<h2 id="policy-title">${text.heading}</h2>
<form method="post" action="${linkAddress(action)}">
${hiddenFields([{ name: "csrf", value: csrf }])}
<fieldset><legend>${text.attestation}</legend>
${attestationPolicies.map((one) => choice("attestation", one, policy.attestation, text.attestations[one]))}</fieldset>
<fieldset><legend>${text.ekTrust}</legend>
${ekTrustModes.map((one) => choice("ekTrust", one, policy.ekTrust, text.ekTrusts[one]))}</fieldset>
<p class="field-hint">${text.afterwards}</p>
<div class="actions"><button class="button primary" id="policy-save" type="submit">${text.save}</button></div>
</form>
</section>
`;
}

type TrustWords = {
  heading: string;
  explanation: string;
  none: string;
  when: (milliseconds: number) => string;
  more: (count: number) => string;
};

function trustList(id: string, list: TrustList, text: TrustWords): Html {
  const { items, hasMore, addCommand, listCommand } = list;
  return html`<section class="card" aria-labelledby="${id}">
<h2 id="${id}">${text.heading}</h2>
<p class="quiet">${text.explanation}</p>
<pre>${addCommand}</pre>
${
  items.length === 0
    ? html`<p class="quiet">${text.none}</p>
`
    : html`<ul class="items">
${items.map(
  ({ name, fingerprint, at }) => html`<li><div><bdi class="item-name">${name}</bdi>
<code>${fingerprint}</code>
<span class="quiet item-note">${text.when(at)}</span></div></li>
`,
)}</ul>
`
}${
  hasMore &&
  html`<p class="quiet">${text.more(items.length)}</p>
<pre>${listCommand}</pre>
`
}</section>
`;
}
