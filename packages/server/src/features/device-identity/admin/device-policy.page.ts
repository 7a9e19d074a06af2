/** The attestation policy page: what a device must prove, and which TPMs are trusted. */
import {
  type AttestationPolicy,
  attestationPolicies,
  type EkTrust,
  ekTrustModes,
} from "../../../core/devices/device.ts";
import { card } from "../../../html/components/card.ts";
import { codeBlock } from "../../../html/components/code-block.ts";
import { consoleLayout } from "../../../html/components/console-layout.ts";
import { copyStatus } from "../../../html/components/copy-field.ts";
import { radioField } from "../../../html/components/fields.ts";
import { fieldsOf } from "../../../html/components/form-page.ts";
import type { FormView } from "../../../html/components/form-state.ts";
import { failureNotice, lastChangeLine, recordForm } from "../../../html/components/record-form.ts";
import { toast } from "../../../html/components/toast.ts";
import { type Html, html } from "../../../html/html.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { type ManageUri, manageTabs } from "./page-and-api.ts";

export type DevicePolicy = { attestation: AttestationPolicy; ekTrust: EkTrust };

export type DevicePolicyView = FormView<DevicePolicy> & {
  manageUri: ManageUri;
  isSaved: boolean;
  roots: TrustList;
  eks: TrustList;
  lastChange: { who: string; at: number } | undefined;
};

/** The first entries of a list that CLI commands manage. */
export type TrustList = {
  /** @property at milliseconds: expiry of a root, creation of a key */
  items: readonly { name: string; fingerprint: string; at: number }[];
  hasMore: boolean;
  addCommand: string;
  listCommand: string;
};

export function devicePolicyPage(view: DevicePolicyView): Html {
  const { messages } = view;
  const { policy: text, done } = messages.devices;
  return consoleLayout({
    ...view,
    title: text.title,
    breadcrumbs: [],
    summary: text.summary({ organisation: view.organisation.name }),
    notice: view.isSaved ? toast(done.saved, view) : failureNotice(view.failure, messages),
    body: [
      manageTabs("policy", view),
      policyForm(view),
      trustList("roots", view.roots, messages),
      trustList("eks", view.eks, messages),
      lastChangeLine(view.lastChange, messages),
      copyStatus,
    ],
  });
}

function policyForm(view: DevicePolicyView): Html {
  const { policy: text } = view.messages.devices;
  const field = fieldsOf(view, text);
  return card({
    id: "policy",
    title: text.heading,
    body: recordForm({
      ...view,
      id: "policy-form",
      fields: [
        radioField({
          ...field("attestation"),
          choices: attestationPolicies.map((value) => ({ value, ...text.attestations[value] })),
        }),
        radioField({
          ...field("ekTrust"),
          choices: ekTrustModes.map((value) => ({ value, ...text.ekTrusts[value] })),
        }),
        html`<p class="field-hint">${text.afterwards}</p>`,
      ],
      submit: { id: "policy-save", label: text.save },
    }),
  });
}

function trustList(id: "roots" | "eks", list: TrustList, messages: Messages): Html {
  const { policy: text } = messages.devices;
  const { copy, copied } = messages.console.frame.secret;
  const words =
    id === "roots"
      ? { title: text.roots, text: text.rootsText, none: text.noRoots, when: text.until }
      : { title: text.eks, text: text.eksText, none: text.noEks, when: text.added };
  const { items, hasMore, addCommand, listCommand } = list;
  return card({
    id,
    title: words.title,
    text: words.text,
    body: [
      codeBlock({ id: `${id}-add`, title: words.title, lines: addCommand, copy, copied }),
      items.length === 0
        ? html`<p class="quiet">${words.none}</p>`
        : html`<ul class="items">
${items.map(
  ({ name, fingerprint, at }) => html`<li><div><span class="item-name"><bdi>${name}</bdi></span>
<code>${fingerprint}</code>
<span class="quiet item-note">${words.when({ at })}</span></div></li>
`,
)}</ul>`,
      hasMore &&
        html`<p class="quiet">${text.more({ count: items.length })}</p>
<pre>${listCommand}</pre>`,
    ],
  });
}
