/** Reads fields of several parts: html/components/duration-input.ts and uri-list.ts. */
import type { Form } from "@signet/protocol/form";
import { DURATION_UNITS, type DurationText, type DurationUnit } from "../html/components/duration-input.ts";
import type { SentForm } from "./accept-form.ts";

const isUnit = (text: string): text is DurationUnit => Object.hasOwn(DURATION_UNITS, text);

/** As it was typed, to be shown again. */
export function readDurationText({ values }: Pick<Form, "values">, id: string): DurationText {
  const unit = values.get(`${id}-unit`) ?? "";
  return { amount: (values.get(id) ?? "").trim(), unit: isUnit(unit) ? unit : "seconds" };
}

/** In seconds; undefined for what is no whole number, or more than a number holds. */
export function toSeconds({ amount, unit }: DurationText): number | undefined {
  if (!/^\d{1,12}$/.test(amount)) return undefined;
  const seconds = Number(amount) * DURATION_UNITS[unit];
  return Number.isSafeInteger(seconds) ? seconds : undefined;
}

/** The rows of a list that have something in them. */
export const readRows = ({ all }: Pick<SentForm, "all">, id: string): string[] =>
  all(id)
    .map((row) => row.trim())
    .filter((row) => row !== "");
