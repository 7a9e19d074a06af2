/** The form that adds a client secret or a key pair: its label, its lifetime, and what happens to the existing ones. */
import { isSecretLabel } from "../../core/applications/client-secrets.ts";
import type { ConsoleView } from "../../html/components/console-layout.ts";
import { selectField, textField } from "../../html/components/fields.ts";
import { fieldsOf, formPage } from "../../html/components/form-page.ts";
import type { FormView } from "../../html/components/form-state.ts";
import type { Html } from "../../html/html.ts";

export type CredentialInput = { label: string; lifetime: string; others: string };

/** Days until the existing ones expire; `later`: they stay. */
const overlaps = ["later", "1", "7", "30"];

const DAY_MS = 86_400_000;
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
  readonly others: string;
  readonly othersHint?: string;
  readonly keep: string;
  expireIn(days: { count: number }): string;
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
  const labels = { label: text.label, lifetime: text.lifetime, others: text.others };
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
      textField({ ...field("label"), hint: text.labelHint, maxLength: 100, isOptional: true }),
      selectField({
        ...field("lifetime"),
        hint: text.lifetimeHint,
        choices: choices(lifetimes, text.never, text.days),
      }),
      selectField({
        ...field("others"),
        hint: text.othersHint,
        choices: choices(overlaps, text.keep, text.expireIn),
      }),
    ],
    submit: { id: `${page.noun}-create`, label: text.submit },
    cancelUri: page.breadcrumbs.at(-1)?.uri,
  });
}

export const readCredentialInput = (values: ReadonlyMap<string, string>): CredentialInput => ({
  label: (values.get("label") ?? "").trim(),
  lifetime: values.get("lifetime") ?? "",
  others: values.get("others") ?? "",
});

/** @returns by field; undefined when there is none */
export function credentialFaults(
  { label, lifetime, others }: CredentialInput,
  lifetimes: readonly string[],
  { labelFault, choiceFault }: Pick<CredentialTexts, "labelFault" | "choiceFault">,
): Record<string, string> | undefined {
  const faults = {
    ...(isSecretLabel(label) ? {} : { label: labelFault }),
    ...(lifetimes.includes(lifetime) ? {} : { lifetime: choiceFault }),
    ...(overlaps.includes(others) ? {} : { others: choiceFault }),
  };
  return Object.keys(faults).length === 0 ? undefined : faults;
}

/** @param input without faults */
export const credentialContent = ({ label, lifetime, others }: CredentialInput, now: number) => ({
  label,
  expiresAt: lifetime === "never" ? null : now + Number(lifetime) * DAY_MS,
  ...(others === "later" ? {} : { expireOthersInSeconds: Number(others) * DAY_SECONDS }),
});
