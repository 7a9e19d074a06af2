/** Scopes in tables: the organisation's own, and the standard ones explained. */
import { scopeClaims, type standardScopes } from "../../../core/scopes/scopes.ts";
import { card } from "../../../html/components/card.ts";
import { nameCell, table } from "../../../html/components/table.ts";
import { type Html, html } from "../../../html/html.ts";
import type { Messages } from "../../../html/messages/messages.ts";

export const ownScopesCard = (list: Html, { console: { scopes: text } }: Messages): Html =>
  card({ id: "own-scopes", title: text.own, text: text.ownText, body: list });

/** @param standard without those in whose place the organisation has a scope of its own */
export const standardScopesCard = (
  standard: ReadonlyArray<(typeof standardScopes)[number]>,
  messages: Messages,
): Html => {
  const { scopes: text } = messages.console;
  const body = standardTable(standard, messages);
  return card({ id: "standard-scopes", title: text.standard, text: text.standardText, body });
};

export const MAX_SHOWN = 4;

/** @param max of a custom scope, whose own page has the rest */
export function claimNames(names: readonly string[], none: string, max = names.length): Html {
  if (names.length === 0) return html`<span class="quiet">${none}</span>`;
  const [shown, others] = [names.slice(0, max), names.length - max];
  return html`<span class="codes-line">${shown.map((name) => html`<code>${name}</code> `)}${others > 0 && `+${others}`}</span>`;
}

function standardTable(standard: ReadonlyArray<(typeof standardScopes)[number]>, messages: Messages): Html {
  const { scopes: text } = messages.console;
  const claims = (name: string): Html => {
    const given = scopeClaims[name];
    if (given) return claimNames(given, text.noClaims);
    const special: Readonly<Record<string, string>> = text.standardClaims;
    return name === "openid" ? claimNames(["sub"], "") : html`<span class="quiet">${special[name]}</span>`;
  };
  return table({
    label: text.standard,
    columns: [text.columns.name, text.columns.shown, text.columns.claims],
    rows: standard.map((name) => ({
      id: `standard-${name}`,
      cells: [nameCell({ name }), messages.scopes[name], claims(name)],
    })),
    messages,
  });
}
