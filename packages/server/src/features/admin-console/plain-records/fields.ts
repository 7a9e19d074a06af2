/** Fields that plain records share: enabled or not, an application, scopes, a lifetime. */
import type { Application } from "../../../core/applications/application.ts";
import { listApplications } from "../../../core/applications/applications.store.ts";
import type { CustomScope } from "../../../core/scopes/custom-scope.ts";
import {
  DURATION_UNITS,
  type DurationText,
  durationInput,
  toDurationText,
} from "../../../html/components/duration-input.ts";
import { checkField, type Field, selectField, textField } from "../../../html/components/fields.ts";
import { type ScopeChoice, scopePicker } from "../../../html/components/scope-picker.ts";
import type { Content } from "../../../html/html.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import type { ConsoleDeps } from "../../../page-kit/page.ts";

/** More than these are not chosen from: their ID is typed. */
const MAX_CHOICES = 100;

export type NamedApplication = Pick<Application, "id" | "name">;

/** Undefined: too many to choose from. */
export async function applicationsToChoose(
  { database }: Pick<ConsoleDeps, "database">,
  orgId: string,
): Promise<readonly NamedApplication[] | undefined> {
  const all = await listApplications(database.query, orgId, { limit: MAX_CHOICES + 1, isOwn: true });
  return all.length > MAX_CHOICES
    ? undefined
    : all.toSorted((one, other) => (one.name < other.name ? -1 : 1));
}

/** @param view.none the label of no application; without it one is needed */
export function applicationField(
  view: Field & { value: string; applications: readonly NamedApplication[] | undefined; none?: string },
): Content {
  const { applications, none, value } = view;
  if (!applications) return textField({ ...view, maxLength: 36, isCode: true });
  const isKnown = value === "" || applications.some(({ id }) => id === value);
  return selectField({
    ...view,
    choices: [
      ...(none !== undefined || value === "" ? [{ value: "", label: none ?? "" }] : []),
      ...applications.map(({ id, name }) => ({ value: id, label: name })),
      ...(isKnown ? [] : [{ value, label: value }]),
    ],
  });
}

export const enabledField = (view: Omit<Field, "hint"> & { value: boolean }): Content => {
  const { value: isChecked, ...field } = view;
  const { hint } = field.messages.console.plainRecords.enabled;
  return checkField({ ...field, hint, isChecked });
};

/** Scopes to tick; one that is chosen and not defined (any more) can be taken away. */
export function scopesField(
  view: Field & { value: readonly string[]; scopes: readonly CustomScope[]; standard?: readonly string[] },
): Content {
  const { value, scopes, standard = [], messages } = view;
  const { own, standard: standardTitle } = messages.console.scopes;
  const known: Readonly<Record<string, string>> = messages.scopes;
  const listed = new Set([...standard, ...scopes.map(({ name }) => name)]);
  const choices: ScopeChoice[] = [
    ...standard.map((name) => ({ name, text: known[name], group: standardTitle })),
    ...scopes.map(({ name, displayName: text, sensitive: isSensitive }) => ({
      ...{ name, text, isSensitive, group: own },
    })),
    ...value.filter((name) => !listed.has(name)).map((name) => ({ name, group: own })),
  ];
  return scopePicker({ ...view, values: value, choices, sensitive: messages.consent.sensitive });
}

/** Seconds of a record as its form has them; null is an empty field. */
export const lifetimeText = (seconds: number | null): DurationText =>
  seconds === null ? { amount: "", unit: "minutes" } : toDurationText(seconds);

export const lifetimeField = (
  view: Field & { value: DurationText; range: readonly [number, number] },
): Content => {
  const [min, max] = view.range;
  const { range } = view.messages.console.applicationSettings;
  const hint = [view.hint, range({ min, max })].filter((text) => text !== undefined).join(" ");
  return durationInput({ ...view, hint });
};

export function displayLifetime({ amount, unit }: DurationText, { console, format }: Messages): string {
  if (amount === "") return "";
  // The names of the form's units are plurals.
  if (amount === "1") return format.lifetime(DURATION_UNITS[unit]);
  return `${amount} ${console.frame.duration.units[unit]}`;
}

/** A lifetime in words. */
export const lifetimeWords = (seconds: number, messages: Messages): string =>
  displayLifetime(toDurationText(seconds), messages);

export const yesOrNo = (value: boolean, { console: { frame } }: Messages): string =>
  value ? frame.yes : frame.no;
