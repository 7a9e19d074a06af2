import { card } from "../../../html/components/parts.ts";
import { type Html, html, linkAddress } from "../../../html/html.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import type { Attention } from "./attention.ts";

export interface AttentionUris {
  pool(id: string): string;
  application(id: string): string;
  readonly signingKeys: string;
  readonly mailTemplates: string;
  readonly failedMails: string;
}

export function attentionCard(found: readonly Attention[], uris: AttentionUris, messages: Messages): Html {
  const { attention: text } = messages.console.overview;
  return card({
    id: "attention",
    title: text.title,
    body:
      found.length === 0
        ? html`<p class="quiet" id="attention-none">${text.none}</p>
`
        : html`<ul class="attention">${found.map((one, index) => item(one, index, uris, messages))}</ul>
`,
  });
}

function item(one: Attention, index: number, uris: AttentionUris, messages: Messages): Html {
  const { title, text, uri, isUrgent } = said(one, uris, messages);
  return html`<li><span class="attention-dot ${isUrgent ? "bad" : "warn"}"></span><a id="attention-${index}" href="${linkAddress(uri)}">${title}</a>
<p class="quiet">${text}</p></li>
`;
}

function said(
  one: Attention,
  uris: AttentionUris,
  { console: { overview } }: Messages,
): { title: string; text: string; uri: string; isUrgent: boolean } {
  const { attention: text } = overview;
  switch (one.kind) {
    case "pool-away":
      return {
        ...{ title: text.poolAway({ name: one.poolName }), text: text.poolAwayText },
        ...{ uri: uris.pool(one.poolId), isUrgent: true },
      };
    case "pool-empty":
      return {
        ...{ title: text.poolEmpty({ name: one.poolName }), text: text.poolEmptyText },
        ...{ uri: uris.pool(one.poolId), isUrgent: false },
      };
    case "secret-ended":
      return {
        title: text.secretEnded({ application: one.applicationName }),
        text: text.secretEndedText({ title: one.label, at: one.expiresAt }),
        ...{ uri: uris.application(one.applicationId), isUrgent: true },
      };
    case "secret-ends":
      return {
        title: text.secretEnds({ application: one.applicationName }),
        text: text.secretEndsText({ title: one.label, at: one.expiresAt }),
        ...{ uri: uris.application(one.applicationId), isUrgent: false },
      };
    case "mail-off":
      return { title: text.mailOff, text: text.mailOffText, uri: uris.mailTemplates, isUrgent: false };
    case "mail-failed":
      return {
        ...{ title: text.mailFailed({ count: one.count }), text: text.mailFailedText },
        ...{ uri: uris.failedMails, isUrgent: true },
      };
    case "key-old":
      return {
        ...{ title: text.keyOld({ algorithm: one.alg }), text: text.keyOldText({ at: one.createdAt }) },
        ...{ uri: uris.signingKeys, isUrgent: false },
      };
    case "ca-ends":
      return {
        title: text.caEnds,
        text: text.caEndsText({ at: one.at }),
        uri: uris.signingKeys,
        isUrgent: true,
      };
  }
}
