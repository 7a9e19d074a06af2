/** Scopes in tables: the organisation's own, and the standard ones explained. */
import type { findUndefinedScopes } from "../../../core/applications/undefined-scopes.store.ts";
import { API_SCOPE_PREFIX } from "../../../core/scopes/api-scopes.ts";
import type { CustomScope } from "../../../core/scopes/custom-scope.ts";
import { entitlementScopes, scopeClaims, type standardScopes } from "../../../core/scopes/scopes.ts";
import { banner } from "../../../html/components/banner.ts";
import { buttonLink } from "../../../html/components/button.ts";
import { card } from "../../../html/components/card.ts";
import { nameCell, table } from "../../../html/components/table.ts";
import { type Html, html, linkAddress } from "../../../html/html.ts";
import type { Messages } from "../../../html/messages/messages.ts";

export const ownScopesCard = (list: Html, { console: { scopes: text } }: Messages): Html =>
  card({ id: "own-scopes", title: text.own, text: text.ownText, body: list });

type UndefinedScopes = Awaited<ReturnType<typeof findUndefinedScopes>>;

/** What nobody defined is left out of every token, until it is defined or taken from the applications that have it. */
export function undefinedScopesNotice(
  found: UndefinedScopes,
  consoleUri: (rest: string) => string,
  { console: { scopes: text } }: Messages,
): Html | undefined {
  if (found.length === 0) return undefined;
  const lines = [...Map.groupBy(found, ({ scope }) => scope)].map(
    ([
      scope,
      of,
    ]) => html`<li><code>${scope}</code> – ${of.map(({ applicationId, applicationName }, index) => html`${index > 0 && ", "}<a href="${linkAddress(consoleUri(`/applications/${applicationId}/access`))}"><bdi>${applicationName}</bdi></a>`)}</li>
`,
  );
  const action = buttonLink({ id: "undefined-define", uri: consoleUri("/scopes/new"), label: text.make });
  return banner(
    "warning",
    "undefined-scopes",
    text.undefinedOnes.title,
    html`<p>${text.undefinedOnes.text}</p>
<ul>${lines}</ul>`,
    action,
  );
}

const reservedClaims: readonly string[] = entitlementScopes;

/** What is older than a rule about names, and is kept as it was (directory.md, "Moving over"). */
export function reservedNamesNotice(
  own: readonly CustomScope[],
  consoleUri: (rest: string) => string,
  { console: { scopes: text } }: Messages,
): Html | undefined {
  const lines = own.flatMap(({ id, name, claims }) => {
    const reserved = claims.filter((claim) => reservedClaims.includes(claim.name));
    if (reserved.length === 0 && !name.startsWith(API_SCOPE_PREFIX)) return [];
    const told = reserved.map((claim) => html` <code>${claim.name}</code>`);
    return html`<li><a href="${linkAddress(consoleUri(`/scopes/${id}`))}"><code>${name}</code></a>${told.length > 0 && html` –${told}`}</li>
`;
  });
  if (lines.length === 0) return undefined;
  const { title, text: explained } = text.reserved;
  return banner(
    "warning",
    "reserved-names",
    title,
    html`<p>${explained}</p>
<ul>${lines}</ul>`,
  );
}

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
