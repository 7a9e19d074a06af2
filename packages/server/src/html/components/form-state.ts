/** The state of a form that is shown again: faults by field, and present values that somebody else has changed. */
import type { ConsoleFrame } from "./console-layout.ts";
import type { FormFailure } from "./record-form.ts";

export type FormState = {
  faults?: Readonly<Record<string, string>> | undefined;
  /** Present values in words, of fields that differ from what was typed. */
  isNow?: Readonly<Record<string, string>> | undefined;
};

/** How a form is shown: at first, and again with what was typed. */
export type FormShown<Input> = {
  readonly input: Input;
  readonly state?: FormState;
  readonly failure?: FormFailure | undefined;
  readonly status?: number;
};

/** What the page of a form is made from, besides the record. */
export type FormView<Input> = ConsoleFrame & {
  /** What was typed, or what the record has. */
  input: Input;
  state: FormState;
  failure: FormFailure | undefined;
  csrf: string;
  /** Of the record that the form changes. */
  version?: string;
  /** Of a form that creates or sends something: see page-kit/accept-form.ts. */
  once?: string | undefined;
  action: string;
};

/** For fields.ts. The first fault of the page gets the focus. */
export function fieldState(
  { faults = {}, isNow = {} }: FormState,
  id: string,
): { fault?: string; isNow?: string; hasFocus?: boolean } {
  return {
    ...(Object.hasOwn(faults, id) ? { fault: faults[id] ?? "" } : {}),
    ...(Object.hasOwn(isNow, id) ? { isNow: isNow[id] ?? "" } : {}),
    ...(Object.keys(faults)[0] === id ? { hasFocus: true } : {}),
  };
}

/** For the notice above the page. */
export function faultsFailure(
  { faults = {} }: FormState,
  label: (id: string) => string,
): FormFailure | undefined {
  const ids = Object.keys(faults);
  return ids.length === 0
    ? undefined
    : { kind: "faults", fields: ids.map((id) => ({ id, label: label(id) })) };
}

/** The present values that differ from what was typed. */
export const changedValues = (
  typed: Readonly<Record<string, string>>,
  now: Readonly<Record<string, string>>,
): Record<string, string> =>
  Object.fromEntries(Object.entries(now).filter(([id, value]) => typed[id] !== value));
