/** The difference that `signet org apply` shows before it changes anything. */

import { countsOf, type Entry, isDone } from "../../core/configuration/entries.ts";
import type { MemberChange } from "../../core/configuration/step.ts";
import type { Organisation } from "../../core/organisations/organisation.ts";
import { escapeControls } from "../output.ts";

const signs = { created: "+", changed: "~", removed: "-" } as const;

const kinds: Readonly<Record<Entry["kind"], string>> = {
  organisation: "organisation:",
  email: "email",
  scope: "scope",
  application: "application",
  "organisation-consent": "consent for all users of",
  preauthorization: "pre-authorization of",
  "authorization-detail-type": "type of authorization details",
  resource: "resource",
  "client-policy": "policy of",
  "client-authority": "client certificate authority",
  trust: "trust in",
  "token-exchange-policy": "token exchange policy",
};

/** What else is lost when a record of this kind is removed. */
const losses: Readonly<Record<Entry["kind"], string>> = {
  organisation: "",
  email: "the built-in text returns",
  scope: "it no longer adds claims",
  application: "permanently, with its secrets, tokens, consents and system accounts",
  "organisation-consent": "revokes the tokens issued under it",
  preauthorization: "revokes the tokens issued under it",
  "authorization-detail-type": "new and refreshed tokens no longer have such details",
  resource: "no more tokens for it; its scopes stay",
  "client-policy": "as in a new organisation",
  "client-authority": "its certificates authenticate nobody",
  trust: "its issuer is no longer believed",
  "token-exchange-policy": "the exchange is refused",
};

export function differenceLines(
  { id, name }: Pick<Organisation, "id" | "name">,
  entries: readonly Entry[],
): string[] {
  const { created, changed, removed } = countsOf(entries);
  const leftAlone = entries.filter(({ act }) => act === "left-alone");
  return [
    `"${name}" (${id})`,
    "",
    ...entries.filter(isDone).flatMap(entryLines),
    ...leftAlone.map((entry) => `  . ${titleOf(entry)}: not in the file, left alone`),
    `${created} created, ${changed} changed, ${removed} removed, ${leftAlone.length} left alone.`,
  ].map(escapeControls);
}

function entryLines(entry: Entry): string[] {
  const sign = signs[entry.act as keyof typeof signs];
  const loss = entry.act === "removed" || isNarrower(entry) ? `: ${losses[entry.kind]}` : "";
  const members = entry.act === "removed" ? [] : entry.changes.flatMap(changeLines);
  return [`  ${sign} ${titleOf(entry)}${loss}`, ...members];
}

/** A consent with fewer scopes replaces the old one, which revokes its tokens. */
function isNarrower({ act, kind, changes }: Entry): boolean {
  if (act !== "changed" || kind !== "organisation-consent") return false;
  const scopes = changes.find(({ member }) => member === "scopes");
  const now = [scopes?.after].flat();
  return [scopes?.before].flat().some((scope) => !now.includes(scope));
}

function titleOf({ kind, name, id, changes }: Entry): string {
  if (kind === "organisation") return `${kinds[kind]} ${name}`;
  const scopes = kind === "preauthorization" ? changes.find(({ member }) => member === "scopes") : undefined;
  const which = scopes ? ` for ${[scopes.before ?? scopes.after].flat().join(" ")}` : "";
  return `${kinds[kind]} "${name}"${which}${id !== undefined && kind === "application" ? ` (${id})` : ""}`;
}

/** Lists as added and removed items, other values as before and after. */
function changeLines({ member, before, after }: MemberChange): string[] {
  const indent = `      ${member}`;
  if (Array.isArray(after) && (before === undefined || Array.isArray(before))) {
    const [old, now] = [(before ?? []).map(json), after.map(json)];
    const moved = [
      ...old.filter((item: string) => !now.includes(item)).map((item: string) => `${indent}  - ${item}`),
      ...now.filter((item) => !old.includes(item)).map((item) => `${indent}  + ${item}`),
    ];
    if (moved.length > 0) return moved;
  }
  if (before === undefined) return [`${indent}  ${json(after)}`];
  return [`${indent}  ${json(before)} → ${after === undefined ? "(none)" : json(after)}`];
}

const json = (value: unknown): string => JSON.stringify(value);
