/** The token inspector. */

import { badge } from "../../../html/components/badge.ts";
import { card, facts } from "../../../html/components/card.ts";
import { consoleLayout } from "../../../html/components/console-layout.ts";
import { textArea } from "../../../html/components/fields.ts";
import { type FormView, fieldState } from "../../../html/components/form-state.ts";
import { failureNotice, recordForm } from "../../../html/components/record-form.ts";
import { relativeTime } from "../../../html/components/relative-time.ts";
import { type Html, html, linkAddress } from "../../../html/html.ts";
import { json } from "../../../html/json.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import type { Claims, Finding, Inspection } from "./inspection.ts";

type InspectorView = FormView<undefined>;

export function inspectorPage(view: InspectorView, inspection: Inspection | undefined): Html {
  const { messages } = view;
  const { frame, quickstart } = messages.console;
  const { inspector } = quickstart;
  return consoleLayout({
    ...view,
    title: frame.pages.tokenInspector,
    summary: inspector.summary,
    notice: failureNotice(view.failure, messages),
    body: [
      inspection && resultCard(view, inspection),
      card({
        id: "inspect",
        title: inspection ? inspector.another : inspector.paste,
        body: recordForm({
          ...view,
          isWide: false,
          id: "inspector-form",
          fields: textArea({
            id: "token",
            label: inspector.field,
            hint: inspector.fieldHint,
            value: "",
            rows: 6,
            isCode: true,
            ...fieldState(view.state, "token"),
            hasFocus: !inspection,
            messages,
          }),
          submit: { id: "inspector-submit", label: inspector.look },
        }),
      }),
    ],
  });
}

function resultCard(view: InspectorView, inspection: Inspection): Html {
  const { inspector } = view.messages.console.quickstart;
  const { kind, decoded } = inspection;
  return html`${card({
    id: "verdict",
    title: inspector.kinds[kind],
    text: inspector.kindTexts[kind],
    actions: verdict(inspection, view.messages),
    body: [findingList(inspection.findings, view.messages), aboutIt(view, inspection)],
  })}${decoded && decodedCard(decoded, view.messages)}`;
}

function verdict({ findings }: Inspection, { console }: Messages): Html {
  const { verdicts } = console.quickstart.inspector;
  const has = (outcome: Finding["outcome"]) => findings.some((finding) => finding.outcome === outcome);
  if (has("bad")) return badge("bad", verdicts.bad);
  return has("warn") ? badge("warn", verdicts.warn) : badge("good", verdicts.good);
}

function findingList(findings: readonly Finding[], { console }: Messages): Html {
  const { inspector } = console.quickstart;
  return html`<ul class="findings">${findings.map(
    ({ id, outcome, value }) =>
      html`<li class="${outcome}" id="finding-${id}"><span>${inspector.findings[id]}${value !== undefined && html` <code>${value}</code>`}</span></li>
`,
  )}</ul>
`;
}

function aboutIt(view: InspectorView, inspection: Inspection): Html | false {
  const { messages, consoleUri } = view;
  const { about } = messages.console.quickstart.inspector;
  const { application, user, scopes = [], issuedAt, expiresAt } = inspection;
  const link = (uri: string, text: string) => html`<a href="${linkAddress(uri)}"><bdi>${text}</bdi></a>`;
  const entries = [
    {
      label: about.application,
      content: application && link(consoleUri(`/applications/${application.id}`), application.name),
    },
    { label: about.user, content: user && link(consoleUri(`/users/${user.id}`), user.email) },
    { label: about.scopes, content: scopes.length > 0 && html`<code>${scopes.join(" ")}</code>` },
    {
      label: about.issued,
      content: issuedAt !== undefined && relativeTime(issuedAt, messages.format.minute),
    },
    { label: about.expires, content: expiryText(expiresAt, messages) },
  ];
  return entries.some(({ content }) => content) && facts(entries);
}

function expiryText(expiresAt: number | null | undefined, { console, format }: Messages) {
  if (expiresAt === undefined) return undefined;
  return expiresAt === null ? console.frame.never : relativeTime(expiresAt, format.minute);
}

function decodedCard({ header, payload }: { header: Claims; payload: Claims }, messages: Messages): Html {
  const { inspector } = messages.console.quickstart;
  return card({
    id: "decoded",
    title: inspector.decoded,
    text: inspector.decodedText,
    body: html`<div class="pair-of-cards"><div class="fields"><h3>${messages.tokens.header}</h3>
<pre tabindex="0" aria-label="${messages.tokens.header}">${json(header)}</pre>
<h3>${messages.tokens.payload}</h3>
<pre tabindex="0" aria-label="${messages.tokens.payload}">${json(payload)}</pre></div>
<div class="fields"><h3>${messages.tokens.claims}</h3>
<dl class="claims">${Object.entries({ ...header, ...payload }).map(([name, value]) => claimRow(name, value, messages))}</dl></div></div>
`,
  });
}

/** NumericDate claims (RFC 7519 §2). */
const MOMENTS = new Set(["exp", "iat", "nbf", "auth_time", "updated_at"]);
/** The last second of a `Date` (ECMA-262, "time values"). */
const LAST_SECOND = 8_640_000_000_000;

function claimRow(name: string, value: unknown, messages: Messages): Html {
  const { inspector } = messages.console.quickstart;
  const meanings: Readonly<Record<string, string>> = { ...messages.claims, ...inspector.claims };
  const meaning = Object.hasOwn(meanings, name) ? meanings[name] : inspector.ownClaim;
  const isMoment = MOMENTS.has(name) && typeof value === "number" && Math.abs(value) <= LAST_SECOND;
  return html`<dt><code>${name}</code></dt>
<dd>${meaning}${isMoment && html`<br>${relativeTime(value * 1_000, messages.format.second)}`}</dd>
`;
}
