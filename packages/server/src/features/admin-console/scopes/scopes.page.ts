/** The list of scopes. */
import type { CustomScope } from "../../../core/scopes/custom-scope.ts";
import { scopeClaims, type standardScopes } from "../../../core/scopes/scopes.ts";
import { badge } from "../../../html/components/badge.ts";
import { buttonLink } from "../../../html/components/button.ts";
import { card } from "../../../html/components/card.ts";
import { type ConsoleFrame, consoleLayout } from "../../../html/components/console-layout.ts";
import { emptyState } from "../../../html/components/empty-state.ts";
import { filterBar, noResults } from "../../../html/components/filter-bar.ts";
import { pagination } from "../../../html/components/pagination.ts";
import { nameCell, table } from "../../../html/components/table.ts";
import { toast } from "../../../html/components/toast.ts";
import { type Html, html } from "../../../html/html.ts";

export type ScopesView = ConsoleFrame & {
  search: string;
  scopes: readonly CustomScope[];
  /** Without those in whose place the organisation has a scope of its own. */
  standard: ReadonlyArray<(typeof standardScopes)[number]>;
  newestUri: string | undefined;
  olderUri: string | undefined;
  isDeleted: boolean;
};

export function scopesPage(view: ScopesView): Html {
  const { frame, scopes: text } = view.messages.console;
  const make = buttonLink({
    id: "scope-new",
    uri: view.consoleUri("/scopes/new"),
    label: text.make,
    kind: "primary",
  });
  return consoleLayout({
    ...view,
    title: frame.pages.scopes,
    breadcrumbs: [],
    summary: text.summary({ organisation: view.organisation.name }),
    actions: isEmpty(view) ? undefined : make,
    notice: view.isDeleted ? toast(text.done.deleted, view.messages) : undefined,
    body: [
      card({ id: "own-scopes", title: text.own, text: text.ownText, body: ownScopes(view, make) }),
      card({
        id: "standard-scopes",
        title: text.standard,
        text: text.standardText,
        body: standardTable(view),
      }),
    ],
  });
}

const isEmpty = ({ scopes, search, newestUri }: ScopesView): boolean =>
  scopes.length === 0 && search === "" && newestUri === undefined;

function ownScopes(view: ScopesView, make: Html): Html {
  const { messages, search, scopes } = view;
  const { scopes: text } = messages.console;
  if (isEmpty(view)) return emptyState({ title: text.none, text: text.noneText, action: make });
  return html`${filterBar({
    action: view.consoleUri("/scopes"),
    label: text.search,
    value: search,
    isSearch: search !== "",
    messages,
  })}${
    scopes.length === 0
      ? noResults(messages)
      : table({
          label: text.own,
          columns: [text.columns.name, text.columns.shown, text.columns.claims],
          rows: scopes.map((scope) => ({
            id: `scope-${scope.id}`,
            cells: [
              nameCell({ name: scope.name, uri: view.consoleUri(`/scopes/${scope.id}`) }),
              html`<bdi>${scope.displayName}</bdi>${scope.sensitive && html` ${badge("warn", text.sensitive)}`}`,
              claimNames(
                scope.claims.map(({ name }) => name),
                text.noClaims,
                MAX_SHOWN,
              ),
            ],
          })),
          messages,
        })
  }${pagination({ newestUri: view.newestUri, olderUri: view.olderUri, messages })}`;
}

const MAX_SHOWN = 4;

/** @param max of a custom scope, whose own page has the rest */
function claimNames(names: readonly string[], none: string, max = names.length): Html {
  if (names.length === 0) return html`<span class="quiet">${none}</span>`;
  const [shown, others] = [names.slice(0, max), names.length - max];
  return html`<span class="codes-line">${shown.map((name) => html`<code>${name}</code> `)}${others > 0 && `+${others}`}</span>`;
}

function standardTable({ standard, messages }: ScopesView): Html {
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
