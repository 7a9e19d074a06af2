/** Which events a webhook takes, as the form offers them: all, or by the groups of the audit log. */
import { type AuditAction, auditActions, auditGroups } from "../../../core/audit/actions.ts";
import type { EventGroup } from "../../../html/components/event-picker.ts";
import { type Content, html } from "../../../html/html.ts";
import type { Messages } from "../../../html/messages/messages.ts";

export const ALL = "*";

const nounOf = (pattern: string): string => pattern.slice(0, pattern.indexOf("."));

type Group = keyof typeof auditGroups;

const actionsOf = (group: Group): readonly string[] => Object.keys(auditGroups[group]);

/** A noun that several groups have stands where most of its actions are. */
function groupOfNoun(noun: string): Group {
  const groups = Object.keys(auditGroups) as Group[];
  const share = (group: Group) => actionsOf(group).filter((action) => nounOf(action) === noun).length;
  return groups.reduce((best, group) => (share(group) > share(best) ? group : best));
}

const nounsByGroup = Map.groupBy(new Set(auditActions.map(nounOf)), groupOfNoun);

/** `user.*` before the actions of its group; of a noun with one action alone only where it is chosen. */
function patternsOf(group: Group, chosen: readonly string[]): readonly string[] {
  const isOffered = (noun: string) =>
    chosen.includes(`${noun}.*`) || auditActions.filter((action) => nounOf(action) === noun).length > 1;
  const nouns = (nounsByGroup.get(group) ?? []).filter(isOffered);
  return [...nouns.map((noun) => `${noun}.*`), ...actionsOf(group)];
}

export function eventGroups(chosen: readonly string[], messages: Messages): EventGroup[] {
  const { auditLog } = messages.console;
  return (Object.keys(auditGroups) as Group[]).map((group) => ({
    id: group,
    label: auditLog.groups[group],
    choices: patternsOf(group, chosen).map((name) => ({ name, text: patternText(name, messages) })),
  }));
}

/** In words; the code stands beside it. */
export function patternText(pattern: string, { console }: Messages): string {
  const { auditLog, webhooks } = console;
  if (pattern === ALL) return webhooks.fields.which.all;
  if (pattern.endsWith(".*")) return webhooks.allOf({ name: nounOf(pattern) });
  return Object.hasOwn(auditLog.actions, pattern) ? auditLog.actions[pattern as AuditAction] : pattern;
}

const SHOWN = 3;

/** For a row of a list. */
export function eventsSummary(events: readonly string[], { console: { webhooks } }: Messages): Content {
  if (events.includes(ALL)) return webhooks.fields.which.all;
  const more = events.length - SHOWN;
  const names = html`<code>${events.slice(0, SHOWN).join(", ")}</code>`;
  return more > 0 ? html`${names} <span class="quiet">${webhooks.more({ count: more })}</span>` : names;
}
