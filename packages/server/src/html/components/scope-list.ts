/** Scopes in plain sentences; sensitive ones first, and marked. */
import { type Html, html } from "../html.ts";
import type { Messages } from "../messages/messages.ts";
import { badge } from "./badge.ts";

/** A scope in plain words. Standard scopes have theirs in the messages. */
export type ScopeText = {
  /** As in the request, e.g. `email`. */
  name: string;
  displayName?: string | undefined;
  description?: string | undefined;
  sensitive?: boolean | undefined;
};

export function scopeList(scopes: readonly ScopeText[], messages: Messages, labelledBy?: string): Html {
  const label = labelledBy !== undefined && html` aria-labelledby="${labelledBy}"`;
  return html`<ul class="scopes"${label}>
${scopes.toSorted(sensitiveFirst).map((scope) => scopeItem(scope, messages))}</ul>`;
}

const sensitiveFirst = (one: ScopeText, other: ScopeText): number =>
  Number(other.sensitive ?? false) - Number(one.sensitive ?? false);

function scopeItem(scope: ScopeText, text: Messages): Html {
  const mark = scope.sensitive && html` ${badge("warn", text.consent.sensitive)}`;
  const { title, more } = scopeTexts(scope, text);
  const note = more !== undefined && html`<span class="quiet item-note scope-note"><bdi>${more}</bdi></span>`;
  return html`<li data-scope="${scope.name}"${scope.sensitive && html` class="sensitive"`}><bdi>${title}</bdi>${mark}${note}</li>
`;
}

function scopeTexts(scope: ScopeText, text: Messages): { title: string; more?: string | undefined } {
  const description = scope.description === "" ? undefined : scope.description;
  if (scope.displayName !== undefined) return { title: scope.displayName, more: description };
  if (description !== undefined) return { title: description };
  const { group: _, ...ofApi } = text.console.applicationSettings.apiScopes;
  const standard: Readonly<Record<string, string>> = { ...text.scopes, ...ofApi };
  const known = Object.hasOwn(standard, scope.name) ? standard[scope.name] : undefined;
  return { title: known ?? text.consent.customScope({ name: scope.name }) };
}
