/** Enrolment codes that can still be used, on the device list page. */
import type { AttestationPolicy } from "../../../core/devices/device.ts";
import { card } from "../../../html/components/parts.ts";
import { type Html, html, linkAddress } from "../../../html/html.ts";
import type { Messages } from "../../../html/messages/messages.ts";

export type OpenCodes = {
  codes: readonly {
    id: string;
    name: string | null;
    attestation: AttestationPolicy;
    /** The name or id of the device it replaces. */
    replaces: string | undefined;
    /** Milliseconds. */
    createdAt: number;
    expiresAt: number;
    createdBy: CodeAuthor;
    withdrawUri: string;
  }[];
  olderUri?: string | undefined;
};

/** Who created a code. */
export type CodeAuthor = { email: string } | "operator" | "program" | "formerUser";

export function openCodes({ codes, olderUri }: OpenCodes, messages: Messages): Html | undefined {
  const text = messages.devices.codes;
  if (codes.length === 0) return undefined;
  const older =
    olderUri !== undefined &&
    html`<div class="actions"><a class="button" id="codes-older" href="${linkAddress(olderUri)}">${text.older}</a></div>`;
  return card({
    id: "codes",
    title: text.heading,
    body: html`<ul class="items">
${codes.map((code) => item(code, text))}</ul>
${older}`,
  });
}

function item(code: OpenCodes["codes"][number], text: Messages["devices"]["codes"]): Html {
  const { name, attestation, replaces, createdBy } = code;
  const author = typeof createdBy === "object" ? createdBy.email : text[createdBy];
  return html`<li>
<div><span class="item-name"><bdi>${name ?? text.unnamed}</bdi>${attestation !== "none" && html` <span class="tag">${text.tpm[attestation]}</span>`}</span>
<span class="quiet item-note">${text.until({ at: code.expiresAt })}, ${text.by({ who: author, at: code.createdAt })}</span>
${replaces !== undefined && html`<span class="quiet item-note"><bdi>${text.replaces({ name: replaces })}</bdi></span>`}</div>
<a class="code-withdraw" id="code-withdraw-${code.id}" href="${linkAddress(code.withdrawUri)}" aria-label="${text.withdrawOf({ name: name ?? text.unnamed })}">${text.withdraw}</a>
</li>
`;
}
