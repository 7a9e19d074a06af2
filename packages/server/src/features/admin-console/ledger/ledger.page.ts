/** The page of the ledger. */
import type { LedgerMode } from "../../../core/ledger/ledger-log.ts";
import { MAX_WITNESSES } from "../../../core/ledger/ledger-log.ts";
import type { LedgerWitness } from "../../../core/ledger/witness.ts";
import { badge } from "../../../html/components/badge.ts";
import { banner } from "../../../html/components/banner.ts";
import { buttonLink } from "../../../html/components/button.ts";
import { card, facts } from "../../../html/components/card.ts";
import { codeBlock } from "../../../html/components/code-block.ts";
import { consoleLayout } from "../../../html/components/console-layout.ts";
import { copyField, copyStatus } from "../../../html/components/copy-field.ts";
import { textArea } from "../../../html/components/fields.ts";
import { fieldsOf, formNotice } from "../../../html/components/form-page.ts";
import type { FormView } from "../../../html/components/form-state.ts";
import { recordForm } from "../../../html/components/record-form.ts";
import { exactTime, relativeTime } from "../../../html/components/relative-time.ts";
import { nameCell, rowLink, table } from "../../../html/components/table.ts";
import { type Content, type Html, html } from "../../../html/html.ts";
import type { Messages } from "../../../html/messages/messages.ts";

export interface LedgerState {
  readonly mode: LedgerMode;
  readonly quorum: number;
  readonly address: string;
  readonly origin: string;
  /** Undefined until the first entry. */
  readonly verifierKey: string | undefined;
  readonly size: number;
  /** Milliseconds; 0: never. */
  readonly checkpointAt: number;
  readonly witnessedSize: number;
  readonly witnessedAt: number;
  readonly witnesses: readonly LedgerWitness[];
}

export type SearchInput = { readonly token: string };

export interface SearchResult {
  /** SHA-256 of the signing input, base64url. */
  readonly sha256: string;
  readonly found:
    | "not-logged"
    | "not-witnessed"
    | {
        readonly index: number;
        readonly kind: string;
        readonly kid: string;
        readonly at: number;
        readonly signer: string;
      };
}

type View = FormView<SearchInput>;

export function ledgerPage(
  view: View,
  state: LedgerState,
  { result, notice }: { readonly result: SearchResult | undefined; readonly notice: Html | undefined },
): Html {
  const { ledger: text, frame } = view.messages.console;
  const labels = { token: text.search.label };
  return consoleLayout({
    ...view,
    title: frame.pages.ledger,
    summary: text.summary,
    notice: formNotice({ ...view, labels }) ?? notice,
    body: [
      stateCard(view, state),
      searchCard(view, labels, result),
      witnessesCard(view, state),
      commandsCard(view, state),
      copyStatus,
    ],
  });
}

function stateCard({ messages, consoleUri }: View, state: LedgerState): Html {
  const { ledger: text, frame } = messages.console;
  const isOff = state.mode === "off";
  const copied = (id: string, label: string, value: string) => ({
    label,
    content: copyField({ ...frame.secret, id, value, label }),
  });
  const time = (at: number) => (at === 0 ? frame.never : relativeTime(at, messages.format.second));
  return card({
    ...{ id: "ledger", title: text.state.title, text: isOff ? text.state.off : text.state.on },
    actions: buttonLink({
      ...{ id: "ledger-settings", uri: consoleUri("/ledger/settings") },
      ...{ label: isOff ? text.switchOn : text.change, ...(isOff && { kind: "primary" as const }) },
    }),
    body: facts([
      {
        ...{ label: text.mode.label, id: "ledger-mode" },
        content: badge(isOff ? "plain" : "good", text.modes[state.mode].label),
      },
      ...(isOff && state.size === 0
        ? []
        : [
            { label: text.state.size, id: "ledger-size", content: text.entries({ count: state.size }) },
            { label: text.state.checkpoint, content: time(state.checkpointAt) },
            {
              label: text.state.witnessed,
              content:
                state.witnessedAt === 0
                  ? frame.never
                  : html`${text.entries({ count: state.witnessedSize })}<span class="quiet item-note">${time(state.witnessedAt)}</span>`,
            },
            copied("ledger-address", text.state.address, state.address),
            ...(state.verifierKey === undefined
              ? []
              : [copied("ledger-key", text.state.key, state.verifierKey)]),
          ]),
    ]),
  });
}

function searchCard(view: View, labels: { readonly token: string }, result: SearchResult | undefined): Html {
  const { search: text } = view.messages.console.ledger;
  return card({
    ...{ id: "search", title: text.title, text: text.text },
    body: [
      result && resultOf(result, view.messages),
      recordForm({
        ...view,
        ...{ id: "ledger-search", action: view.consoleUri("/ledger/search") },
        fields: textArea({
          ...fieldsOf(view, labels)("token"),
          ...{ value: "", hint: text.hint, rows: 3, isCode: true },
        }),
        submit: { id: "ledger-search-submit", label: text.submit },
      }),
    ],
  });
}

function resultOf({ sha256, found }: SearchResult, messages: Messages): Html {
  const { search: text, kinds } = messages.console.ledger;
  const hash = html`<p><code id="ledger-hash">${sha256}</code></p>
`;
  if (found === "not-logged" || found === "not-witnessed") {
    const { title, text: why } = text[found];
    return banner("warning", "ledger-result", title, html`<p>${why}</p>${hash}`);
  }
  const { index, kind, kid, at, signer } = found;
  const kindName = (kinds as Readonly<Record<string, string>>)[kind] ?? kind;
  const values = facts([
    { label: text.index, content: String(index) },
    { label: text.kind, content: kindName },
    { label: text.signedAt, content: exactTime(at, messages.format.second) },
    { label: text.kid, content: html`<code>${kid}</code>` },
    { label: text.signer, content: signer === "local" ? text.local : html`<code>${signer}</code>` },
  ]);
  return banner("success", "ledger-result", text.found, html`${hash}${values}`);
}

function witnessesCard({ messages, consoleUri }: View, { witnesses, quorum }: LedgerState): Html {
  const { witnesses: text } = messages.console.ledger;
  const rows = witnesses.map((witness) => ({
    id: `witness-${witness.id}`,
    cells: [
      nameCell({
        name: URL.parse(witness.url)?.host ?? witness.url,
        note: html`<code>${witness.url}</code>`,
      }),
      witnessState(witness, messages),
      messages.console.ledger.entries({ count: witness.cosignedSize }),
    ],
    actions: rowLink({
      ...{ id: `witness-remove-${witness.id}`, uri: consoleUri(`/ledger/witnesses/${witness.id}/remove`) },
      ...{ text: text.remove, label: text.removeOf({ name: witness.url }), isQuestion: true },
    }),
  }));
  return card({
    ...{
      id: "witnesses",
      title: text.title,
      text: witnesses.length > 0 ? text.text({ count: quorum }) : undefined,
    },
    actions:
      witnesses.length < MAX_WITNESSES &&
      buttonLink({ id: "witness-add", uri: consoleUri("/ledger/witnesses/new"), label: text.add }),
    body: table({
      label: text.title,
      columns: [text.witness, text.state, text.size],
      ...{ rows, none: text.none, messages },
    }),
  });
}

function witnessState({ lastError, cosignedAt }: LedgerWitness, messages: Messages): Content {
  const { witnesses: text } = messages.console.ledger;
  if (lastError !== null) {
    const errors: Readonly<Record<string, string>> = text.errors;
    return badge(lastError === "inconsistent" ? "bad" : "warn", errors[lastError] ?? lastError);
  }
  if (cosignedAt === null) return badge("plain", text.waiting);
  return html`${badge("good", text.good)}<span class="quiet item-note">${relativeTime(cosignedAt, messages.format.minute)}</span>`;
}

/** For whoever wants to be sure: nothing of it is asked of this service but the ledger itself. */
function commandsCard(
  { messages }: View,
  { address, verifierKey, witnesses, mode }: LedgerState,
): Html | undefined {
  const { ledger: text, frame } = messages.console;
  if (verifierKey === undefined || mode === "off") return undefined;
  const trust = [
    `--url ${address}`,
    `--key '${verifierKey}'`,
    ...witnesses.map((witness) => `--witness '${witness.verifierKey}'`),
    ...(mode === "members" ? ["--token-file token.txt"] : []),
  ];
  const command = (name: string, last: string) => [`signet ledger ${name}`, ...trust, last].join(" \\\n  ");
  const block = (id: string, title: string, lines: string) =>
    codeBlock({ ...frame.secret, id, title, lines });
  return card({
    ...{ id: "commands", title: text.commands.title, text: text.commands.text },
    body: [
      block("ledger-monitor", text.commands.monitor, command("monitor", "--state ledger.state")),
      block("ledger-verify", text.commands.verify, command("verify", "--jws token.jwt")),
    ],
  });
}
