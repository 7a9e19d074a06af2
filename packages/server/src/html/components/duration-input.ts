/** A duration as a number and a unit. The fields are `<id>` and `<id>-unit`; page-kit/duration.ts reads them. */
import { type Html, html } from "../html.ts";
import { attributes, type Field, fieldAround } from "./fields.ts";

export const DURATION_UNITS = { seconds: 1, minutes: 60, hours: 3_600, days: 86_400 } as const;
export type DurationUnit = keyof typeof DURATION_UNITS;

/** As it was typed, or as a record has it. */
export type DurationText = { amount: string; unit: DurationUnit };

/** In the largest unit that leaves no rest: 5400 is 90 minutes. */
export function toDurationText(seconds: number): DurationText {
  const units = Object.keys(DURATION_UNITS).reverse() as DurationUnit[];
  const unit = units.find((one) => seconds > 0 && seconds % DURATION_UNITS[one] === 0) ?? "seconds";
  return { amount: String(seconds / DURATION_UNITS[unit]), unit };
}

export function durationInput(
  view: Field & { value: DurationText; units?: readonly DurationUnit[]; max?: number },
): Html {
  const { id, value, units = ["minutes", "hours", "days"], messages } = view;
  const { duration } = messages.console.frame;
  const offered = Object.keys(DURATION_UNITS).filter(
    (unit): unit is DurationUnit => units.includes(unit as DurationUnit) || unit === value.unit,
  );
  return fieldAround(
    view,
    html`<div class="duration"><input id="${id}" name="${id}" type="number" min="0"${view.max !== undefined && html` max="${view.max}"`} value="${value.amount}" inputmode="numeric" autocomplete="off"${attributes(view)}>
<select id="${id}-unit" name="${id}-unit" aria-label="${duration.unitOf({ field: view.label })}">${offered.map(
      (unit) =>
        html`<option value="${unit}"${unit === value.unit && html` selected`}>${duration.units[unit]}</option>`,
    )}</select></div>`,
  );
}
