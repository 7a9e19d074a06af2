/** Reads the members of a user from what an identity provider claims (connections.md §4, "Mapping"). */
import { emailKey } from "../../users/user.ts";
import type { Expression, Mapping } from "./sign-in-settings.ts";

export type Claims = Readonly<Record<string, unknown>>;

export const MAX_EXPRESSION = 200;
export const MAX_ALTERNATIVES = 10;
const MAX_VALUE = 1_000;

/** @returns why it is none; undefined for an expression */
export function expressionFault(expression: unknown): string | undefined {
  const all: readonly unknown[] = Array.isArray(expression) ? expression : [expression];
  if (all.length === 0 || all.length > MAX_ALTERNATIVES) return `has 1 to ${MAX_ALTERNATIVES} expressions`;
  return all.map(oneFault).find((fault) => fault !== undefined);
}

function oneFault(expression: unknown): string | undefined {
  if (typeof expression !== "string" || expression === "") return "is a claim, a JSON Pointer or =constant";
  if (expression.length > MAX_EXPRESSION) return `has at most ${MAX_EXPRESSION} characters`;
  // RFC 6901 §3: what follows a tilde is 0 or 1.
  if (expression.startsWith("/") && /~(?![01])/.test(expression)) return "is no JSON Pointer (RFC 6901)";
  return /[\p{Cc}\p{Cf}]/u.test(expression) ? "has no control characters" : undefined;
}

/** Of several expressions the first whose value is not empty. */
export function evaluate(expression: Expression | undefined, claims: Claims): unknown {
  if (expression === undefined) return undefined;
  const all = typeof expression === "string" ? [expression] : expression;
  return all.map((one) => evaluateOne(one, claims)).find((value) => !isEmpty(value));
}

/** Whether claims that the expression reads are all missing: constants are there always, and only what goes before them is read. */
export function isLacking(expression: Expression, claims: Claims): boolean {
  const all = typeof expression === "string" ? [expression] : expression;
  const constant = all.findIndex((one) => one.startsWith("=") && one !== "=");
  const read = (constant < 0 ? all : all.slice(0, constant)).filter((one) => one !== "=");
  return read.length > 0 && read.every((one) => isUnsaid(evaluateOne(one, claims)));
}

/** @param signed - a part of the claims, which goes before the others: with them alone if they have what the expression reads */
export const evaluateSigned = (expression: Expression, claims: Claims, signed: Claims): unknown =>
  evaluate(expression, isLacking(expression, signed) ? claims : signed);

function evaluateOne(expression: string, claims: Claims): unknown {
  if (expression.startsWith("=")) return expression.slice(1);
  if (!expression.startsWith("/")) return Object.hasOwn(claims, expression) ? claims[expression] : undefined;
  return expression
    .slice(1)
    .split("/")
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"))
    .reduce<unknown>(
      (value, name) =>
        typeof value === "object" && value !== null && Object.hasOwn(value, name)
          ? (value as Record<string, unknown>)[name]
          : undefined,
      claims,
    );
}

/** No value at all; an empty list is one, which says that there is none of it. */
export const isUnsaid = (value: unknown): boolean => value === undefined || value === null || value === "";

const isEmpty = (value: unknown): boolean => isUnsaid(value) || (Array.isArray(value) && value.length === 0);

/** PostgreSQL keeps no NUL, and makes one letter of every half of a surrogate pair: two texts would become one. */
export const isStorable = (text: string): boolean => text.isWellFormed() && !/\p{Cc}/u.test(text);

/** Numbers and booleans are written out; of an array the first; objects are no text. */
function textOf(value: unknown): string | undefined {
  const one: unknown = Array.isArray(value) ? value[0] : value;
  if (typeof one === "number" || typeof one === "boolean") return String(one);
  if (typeof one !== "string") return undefined;
  const text = one.trim();
  return text === "" || text.length > MAX_VALUE || !isStorable(text) ? undefined : text;
}

/** A boolean, or what providers that know none write instead. */
const isTrue = (value: unknown): boolean =>
  value === true || value === 1 || value === "true" || value === "1";

export interface MappedUser {
  readonly email: string | undefined;
  /** As the provider claims; what that is worth is another question. */
  readonly emailVerified: boolean;
  readonly firstname: string;
  readonly surname: string;
  readonly username: string | undefined;
  readonly phone: string | undefined;
  readonly locale: string | undefined;
  readonly attributes: Readonly<Record<string, unknown>>;
}

/** @param signed - a part of the claims, which goes before the others */
export function mapClaims(mapping: Mapping, claims: Claims, signed: Claims = claims): MappedUser {
  const value = (member: string): unknown => {
    const expression = Object.hasOwn(mapping, member) ? mapping[member] : undefined;
    return expression === undefined ? undefined : evaluateSigned(expression, claims, signed);
  };
  const text = (member: string) => textOf(value(member));
  const attributes = Object.keys(mapping)
    .filter((member) => member.startsWith("attributes."))
    .map((member) => [member.slice("attributes.".length), value(member)] as const)
    .filter(([, found]) => !isEmpty(found));
  return {
    email: text("email"),
    emailVerified: isTrue(value("emailVerified")),
    firstname: text("firstname") ?? "",
    surname: text("surname") ?? "",
    ...{ username: text("username"), phone: text("phone"), locale: text("locale") },
    attributes: Object.fromEntries(attributes),
  };
}

/** The part after the @, as domains are compared. */
export const domainOf = (email: string): string => emailKey(email).split("@").at(-1) ?? "";
