/** The form that adds a client secret or a key pair: its label, its lifetime, and what happens to the existing ones. */
import { isSecretLabel } from "../../core/applications/client-secrets.ts";
import type { ConsoleView } from "../../html/components/console-layout.ts";
import { type DurationText, durationInput } from "../../html/components/duration-input.ts";
import { selectField, textField } from "../../html/components/fields.ts";
import { fieldsOf, formPage } from "../../html/components/form-page.ts";
import type { FormView } from "../../html/components/form-state.ts";
import { type Html, html } from "../../html/html.ts";
import type { Messages } from "../../html/messages/messages.ts";
import { readDurationText, toSeconds } from "../../page-kit/read-fields.ts";

export type CredentialInput = {
  label: string;
  /** Days, `never`, or `custom`. */
  lifetime: string;
  /** As it was typed, where the choice is `custom`. */
  period: DurationText;
  others: string;
};

export const emptyPeriod: DurationText = { amount: "", unit: "days" };

/** Of an own period, in seconds: an hour to ten years. */
const PERIOD = { min: 3_600, max: 3_650 * 86_400 };

/** Days until the existing ones expire; `later`: they stay. */
const overlaps = ["later", "1", "7", "30"];

const CUSTOM = "custom";
const DAY_SECONDS = 86_400;

/** In `applications.secrets` and in `systemAccounts.keys`. */
interface CredentialTexts {
  readonly newTitle: string;
  readonly label: string;
  readonly labelHint: string;
  readonly lifetime: string;
  readonly lifetimeHint?: string;
  readonly never: string;
  days(value: { count: number }): string;
  /** Left out where the others stay as they are. */
  readonly others?: string;
  readonly othersHint?: string;
  readonly keep?: string;
  readonly expireIn?: (days: { count: number }) => string;
  readonly labelFault: string;
  readonly choiceFault: string;
  readonly submit: string;
}

/**
 * @param page.noun begins the ids of the form and of its button
 * @param lifetimes days, or `never`
 */
export function credentialPage(
  view: FormView<CredentialInput>,
  page: Pick<ConsoleView, "breadcrumbs"> & { noun: string; summary: string },
  lifetimes: readonly string[],
  text: CredentialTexts,
): Html {
  const { duration } = view.messages.console.frame;
  const labels = {
    ...{ label: text.label, lifetime: text.lifetime },
    ...{ period: duration.customLabel, others: text.others ?? "" },
  };
  const field = fieldsOf(view, labels);
  const choices = (values: readonly string[], other: string, days: CredentialTexts["days"]) =>
    values.map((value) => ({ value, label: /^\d/.test(value) ? days({ count: Number(value) }) : other }));
  return formPage({
    ...view,
    ...page,
    title: text.newTitle,
    cardLabel: text.newTitle,
    id: `${page.noun}-form`,
    labels,
    fields: [
      textField({
        ...field("label"),
        hint: text.labelHint,
        maxLength: 100,
        isOptional: true,
        ...(view.failure === undefined && view.state.faults === undefined ? { hasFocus: true } : {}),
      }),
      selectField({
        ...field("lifetime"),
        hint: text.lifetimeHint,
        choices: [...choices(lifetimes, text.never, text.days), { value: CUSTOM, label: duration.custom }],
      }),
      // The stylesheet shows it where it is chosen.
      html`<div class="custom-period">${durationInput({ ...field("period"), hint: duration.range(PERIOD), units: ["hours", "days"] })}</div>`,
      text.expireIn &&
        selectField({
          ...field("others"),
          hint: text.othersHint,
          choices: choices(overlaps, text.keep ?? "", text.expireIn),
        }),
    ],
    submit: { id: `${page.noun}-create`, label: text.submit },
    cancelUri: page.breadcrumbs.at(-1)?.uri,
  });
}

export const readCredentialInput = (values: ReadonlyMap<string, string>): CredentialInput => ({
  label: (values.get("label") ?? "").trim(),
  lifetime: values.get("lifetime") ?? "",
  period: readDurationText({ values }, "period"),
  others: values.get("others") ?? "",
});

/** @returns by field; undefined when there is none */
export function credentialFaults(
  { label, lifetime, period, others }: CredentialInput,
  lifetimes: readonly string[],
  { labelFault, choiceFault }: Pick<CredentialTexts, "labelFault" | "choiceFault">,
  { console: { frame } }: Messages,
): Record<string, string> | undefined {
  const seconds = lifetime === CUSTOM ? (toSeconds(period) ?? 0) : PERIOD.min;
  const isPeriod = seconds >= PERIOD.min && seconds <= PERIOD.max;
  const faults = {
    ...(isSecretLabel(label) ? {} : { label: labelFault }),
    ...(lifetime === CUSTOM || lifetimes.includes(lifetime) ? {} : { lifetime: choiceFault }),
    ...(isPeriod ? {} : { period: frame.duration.range(PERIOD) }),
    ...(overlaps.includes(others) ? {} : { others: choiceFault }),
  };
  return Object.keys(faults).length === 0 ? undefined : faults;
}

/** @param input without faults */
export const credentialContent = ({ label, lifetime, period, others }: CredentialInput, now: number) => ({
  label,
  expiresAt: lifetime === "never" ? null : now + (lifetimeSeconds(lifetime, period) ?? 0) * 1_000,
  ...(others === "later" ? {} : { expireOthersInSeconds: Number(others) * DAY_SECONDS }),
});

const lifetimeSeconds = (lifetime: string, period: DurationText): number | undefined =>
  lifetime === CUSTOM ? toSeconds(period) : Number(lifetime) * DAY_SECONDS;
