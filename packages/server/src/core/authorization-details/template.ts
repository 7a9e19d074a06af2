/**
 * The words in which a user is asked for authorization details: "Pay {amount.value} to {creditor}". The values come from the
 * application, so they are bounded, and shown as values.
 */
import type { AuthorizationDetail } from "./detail-type.ts";

export interface TemplatePart {
  readonly kind: "text" | "value";
  readonly text: string;
}

const MAX_TEMPLATE = 500;
const MAX_PLACES = 20;
const PLACE = /\{([^{}]*)\}/g;
/** Names of members, from the outside in. */
const PATH = /^[A-Za-z0-9_-]{1,64}(?:\.[A-Za-z0-9_-]{1,64}){0,9}$/;

/** Why a template is refused; undefined when it is accepted. */
export function templateFault(template: string): string | undefined {
  if (
    template.trim() === "" ||
    [...template].length > MAX_TEMPLATE ||
    /[\p{Cc}\p{Cf}\u2028\u2029]/u.test(template)
  )
    return `must be 1 to ${MAX_TEMPLATE} characters without control characters`;
  const paths = [...template.matchAll(PLACE)].map(([, path = ""]) => path);
  if (/[{}]/.test(template.replaceAll(PLACE, ""))) return "has an unpaired brace";
  if (paths.length > MAX_PLACES) return `has at most ${MAX_PLACES} placeholders`;
  if (!paths.every((path) => PATH.test(path)))
    return "has a placeholder that is no path of member names, as in {amount.value}";
  return undefined;
}

/** What stands for a member that the details don't have. */
const ABSENT = "–";

/** The template with the details' values. */
export function fillTemplate(template: string, detail: AuthorizationDetail): TemplatePart[] {
  const parts: TemplatePart[] = [];
  let end = 0;
  for (const { 0: place, 1: path = "", index } of template.matchAll(PLACE)) {
    parts.push({ kind: "text", text: template.slice(end, index) });
    parts.push({ kind: "value", text: valueText(valueAt(detail, path)) });
    end = index + place.length;
  }
  parts.push({ kind: "text", text: template.slice(end) });
  return parts.filter(({ text }) => text !== "");
}

function valueAt(detail: AuthorizationDetail, path: string): unknown {
  let value: unknown = detail;
  for (const name of path.split(".")) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Readonly<Record<string, unknown>>)[name];
  }
  return value;
}

const MAX_VALUE = 200;

/** Never cut without a sign of it: what is shown must not look like the whole. */
function valueText(value: unknown): string {
  const text = plainText(value);
  if (text.trim() === "") return ABSENT;
  const letters = [...text];
  return letters.length <= MAX_VALUE ? text : `${letters.slice(0, MAX_VALUE).join("")}…`;
}

/** Control characters and those that turn the direction of text would let a value speak for the page. */
function plainText(value: unknown): string {
  if (value === undefined || value === null) return "";
  if (Array.isArray(value)) return value.map(plainText).join(", ");
  const text = typeof value === "object" ? JSON.stringify(value) : String(value);
  return text.replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, " ");
}
