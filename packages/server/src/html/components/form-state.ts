/** A form that may come back: what is wrong with each field, and what each is now where somebody else was faster. */
import type { ConsoleFrame } from "./console-layout.ts";
import type { FormFailure } from "./record-form.ts";

export type FormState = {
  /** By the field's id, in the order of the page. */
  faults?: Readonly<Record<string, string>> | undefined;
  /** Present values in words, by the field's id; only of fields that differ from what was typed. */
  isNow?: Readonly<Record<string, string>> | undefined;
};

/** What the page of a form is made from, besides the record. */
export type FormView<Typed> = ConsoleFrame & {
  /** As it was typed, or as it is. */
  typed: Typed;
  state: FormState;
  failure: FormFailure | undefined;
  csrf: string;
  seen: string;
  /** Of a form that is good once: see page-kit/made-once.ts. */
  once: string | undefined;
  action: string;
};

/** What fields.ts takes, for one field. The first fault of the page gets the cursor. */
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

/** For the notice above the page. @param label the field's own label */
export function faultsFailure(
  { faults = {} }: FormState,
  label: (id: string) => string,
): FormFailure | undefined {
  const ids = Object.keys(faults);
  return ids.length === 0
    ? undefined
    : { kind: "faults", fields: ids.map((id) => ({ id, label: label(id) })) };
}

/** Those of the present values that are others than what was typed. */
export const differing = (
  typed: Readonly<Record<string, string>>,
  now: Readonly<Record<string, string>>,
): Record<string, string> =>
  Object.fromEntries(Object.entries(now).filter(([id, value]) => typed[id] !== value));
