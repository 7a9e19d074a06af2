/** What needs attention, with links. */
import { card } from "../../../html/components/card.ts";
import { dayWithin, timeWithin } from "../../../html/components/relative-time.ts";
import { type Content, type Html, html, linkAddress } from "../../../html/html.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import type { Attention } from "./attention.ts";

export function attentionCard(
  found: readonly Attention[],
  consoleUri: (rest: string) => string,
  messages: Messages,
): Html {
  const { attention: text } = messages.console.overview;
  const item = (one: Attention, index: number) => {
    const { path, title, text: explanation } = describe(one, messages);
    return html`<li><span class="attention-dot ${urgent.includes(one.kind) ? "bad" : "warn"}"></span><a id="attention-${index}" href="${linkAddress(consoleUri(path))}">${title}</a>
<p class="quiet">${explanation}</p></li>
`;
  };
  return card({
    id: "attention",
    title: text.title,
    body:
      found.length === 0
        ? html`<p class="quiet" id="attention-none">${text.none}</p>
`
        : html`<ul class="attention">${found.map(item)}</ul>
`,
  });
}

const urgent: ReadonlyArray<Attention["kind"]> = ["pool-away", "secret-ended", "mail-failed", "ca-ends"];

/** @returns `path`: of the page where something can be done about it */
function describe(
  one: Attention,
  { console: { overview }, format }: Messages,
): { path: string; title: string; text: Content } {
  const { attention: text } = overview;
  const { day, minute } = format;
  switch (one.kind) {
    case "pool-away": {
      const title = text.poolAway({ name: one.poolName });
      return { path: `/pools/${one.poolId}`, title, text: text.poolAwayText };
    }
    case "pool-empty": {
      const title = text.poolEmpty({ name: one.poolName });
      return { path: `/pools/${one.poolId}`, title, text: text.poolEmptyText };
    }
    case "secret-ended":
    case "secret-ends": {
      const { applicationName: application, label: title, expiresAt: at } = one;
      const path = `/applications/${one.applicationId}`;
      return one.kind === "secret-ended"
        ? {
            ...{ path, title: text.secretEnded({ application }) },
            text: dayWithin(text.secretEndedText({ title, at }), at, day),
          }
        : {
            ...{ path, title: text.secretEnds({ application }) },
            text: dayWithin(text.secretEndsText({ title, at }), at, day),
          };
    }
    case "mail-off":
      return { path: "/mail-templates", title: text.mailOff, text: text.mailOffText };
    case "mail-failed": {
      const title = text.mailFailed({ count: one.count });
      return { path: "/audit-log?event=mail.failed", title, text: text.mailFailedText };
    }
    case "key-old": {
      const title = text.keyOld({ algorithm: one.alg });
      return {
        path: "/signing-keys",
        title,
        text: dayWithin(text.keyOldText({ at: one.createdAt }), one.createdAt, day),
      };
    }
    case "factors-lost": {
      const title = text.factorsLost({ email: one.email });
      return {
        path: `/users/${one.userId}/security`,
        title,
        text: timeWithin(text.factorsLostText({ at: one.at }), one.at, minute),
      };
    }
    case "ca-ends":
      return {
        ...{ path: "/signing-keys", title: text.caEnds },
        text: dayWithin(text.caEndsText({ at: one.at }), one.at, day),
      };
  }
}
