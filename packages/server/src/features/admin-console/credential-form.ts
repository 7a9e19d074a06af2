/** The form that adds a client secret or a key pair: its label, its lifetime, and what happens to the existing ones. */
import { isSecretLabel } from "../../core/applications/client-secrets.ts";
import { selectField, textField } from "../../html/components/fields.ts";
import { fieldsOf, formPage } from "../../html/components/form-page.ts";
import type { FormView } from "../../html/components/form-state.ts";
import type { Html } from "../../html/html.ts";

export type CredentialInput = { label: string; lifetime: string; others: string };

/** Days until the existing ones expire; `later`: they stay. */
const overlaps = ["later", "1", "7", "30"];

const DAY_MS = 86_400_000;
const DAY_SECONDS = 86_400;

export interface CredentialTexts {
  readonly title: string;
  readonly summary: string;
  /** By field. */
  readonly labels: Readonly<Record<keyof CredentialInput, string>>;
  readonly hints: Readonly<Partial<Record<keyof CredentialInput, string>>>;
  readonly never: string;
  readonly keep: string;
  lifetimeDays(days: { count: number }): string;
  overlapDays(days: { count: number }): string;
  readonly labelFault: string;
  readonly choiceFault: string;
}

/** @param lifetimes days, or `never` */
export function credentialPage(
  view: FormView<CredentialInput>,
  page: Pick<Parameters<typeof formPage>[0], "breadcrumbs" | "id" | "submit">,
  lifetimes: readonly string[],
  { labels, hints, ...texts }: CredentialTexts,
): Html {
  const field = fieldsOf(view, labels);
  const choices = (values: readonly string[], other: string, days: CredentialTexts["lifetimeDays"]) =>
    values.map((value) => ({ value, label: /^\d/.test(value) ? days({ count: Number(value) }) : other }));
  return formPage({
    ...view,
    ...page,
    title: texts.title,
    summary: texts.summary,
    cardLabel: texts.title,
    labels,
    fields: [
      textField({ ...field("label"), hint: hints.label, maxLength: 100, isOptional: true }),
      selectField({
        ...field("lifetime"),
        hint: hints.lifetime,
        choices: choices(lifetimes, texts.never, texts.lifetimeDays),
      }),
      selectField({
        ...field("others"),
        hint: hints.others,
        choices: choices(overlaps, texts.keep, texts.overlapDays),
      }),
    ],
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
