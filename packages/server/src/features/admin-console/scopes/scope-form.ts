/** A custom scope as it is typed: fields in, content and faults out. */
import type { CustomScope, ScopeClaim } from "../../../core/scopes/custom-scope.ts";
import type { ScopeContent } from "../../../core/scopes/custom-scopes.ts";
import { claimPaths, MOST_CLAIMS, type ScopeFault } from "../../../core/scopes/validation.ts";
import type { Messages } from "../../../html/messages/messages.ts";

/** As they were typed. */
export type TypedScope = {
  name: string;
  displayName: string;
  description: string;
  sensitive: boolean;
  claims: readonly TypedClaim[];
};

export type TypedClaim = {
  name: string;
  /** One of `claimOrigins`. */
  from: string;
  /** Name of the attribute, or the fixed value. */
  what: string;
};

/** Where a claim's value can come from; the last ones of each ask for `what`. */
export const claimOrigins: readonly string[] = [
  ...claimPaths.user.map((path) => `user.${path}`),
  "user.attribute",
  ...claimPaths.membership.map((path) => `membership.${path}`),
  "membership.attribute",
  "static",
];

const emptyClaim: TypedClaim = { name: "", from: "user.attribute", what: "" };

export const emptyScope: TypedScope = {
  name: "",
  displayName: "",
  description: "",
  sensitive: false,
  claims: [emptyClaim],
};

export const claimFieldId = (row: number, field: keyof TypedClaim): string => `claim-${row}-${field}`;

export function typedScope(scope: CustomScope): TypedScope {
  const { name, displayName, description, sensitive, claims } = scope;
  return { name, displayName, description, sensitive, claims: claims.map(typedClaim) };
}

function typedClaim(claim: ScopeClaim): TypedClaim {
  const { name, source } = claim;
  if (source === "static") return { name, from: "static", what: JSON.stringify(claim.value) };
  const attribute = /^attributes\.(.+)$/.exec(claim.path)?.[1];
  return attribute === undefined
    ? { name, from: `${source}.${claim.path}`, what: "" }
    : { name, from: `${source}.attribute`, what: attribute };
}

/** What a form holds. Rows that nothing stands in are left out; `add` asks for one more. */
export function readScope(values: ReadonlyMap<string, string>): TypedScope {
  const text = (id: string, most: number) => (values.get(id) ?? "").slice(0, most);
  const claims: TypedClaim[] = [];
  // Fields that are left empty are not sent; the choice of each row is.
  for (let row = 0; row <= MOST_CLAIMS && values.has(claimFieldId(row, "from")); row += 1) {
    const name = text(claimFieldId(row, "name"), 200).trim();
    const what = text(claimFieldId(row, "what"), 4_000).trim();
    const from = text(claimFieldId(row, "from"), 100);
    if (name !== "" || what !== "") claims.push({ name, from, what });
  }
  return {
    name: text("name", 200).trim(),
    displayName: text("displayName", 200).trim(),
    // One sentence: where somebody has pressed Enter in it, there is a space.
    description: text("description", 1_000)
      .replaceAll(/\s*\n\s*/g, " ")
      .trim(),
    sensitive: values.has("sensitive"),
    claims,
  };
}

/** With an empty row at the end, so that there is always one to type into. */
export const withEmptyRow = (typed: TypedScope): TypedScope => ({
  ...typed,
  claims: [...typed.claims, emptyClaim].slice(0, MOST_CLAIMS),
});

/** As the core takes it; what it must not be is the core's to say. */
export function contentOf({ displayName, description, sensitive, claims }: TypedScope): ScopeContent {
  return { displayName, description, sensitive, claims: claims.map(claimOf) };
}

function claimOf({ name, from, what }: TypedClaim): ScopeClaim {
  if (from === "static") return { name, source: "static", value: jsonOrText(what) };
  const [, source, path] = /^(user|membership)\.(\w+)$/.exec(from) ?? [];
  // An origin that no form of ours has is a path that no claim may have.
  if (source !== "user" && source !== "membership") return { name, source: "user", path: "" };
  return { name, source, path: path === "attribute" ? `attributes.${what}` : (path ?? "") };
}

/** `true`, `42` and `["a"]` are what they look like; anything else is a text. */
function jsonOrText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text === "" ? undefined : text;
  }
}

/** The texts of the core's faults, by the field that each is about. */
export function scopeFaults(
  faults: readonly ScopeFault[],
  { console: { scopes: text } }: Messages,
): Record<string, string> {
  const byField: Record<string, string> = {};
  for (const { path, code } of faults) {
    const field = fieldOf(path);
    byField[field] ??= text.faults[code];
  }
  return byField;
}

function fieldOf(path: string): string {
  const [, row, member = ""] = /^claims\[(\d+)\]\.(\w+)$/.exec(path) ?? [];
  if (row === undefined) return path === "claims" ? claimFieldId(0, "name") : path;
  return claimFieldId(Number(row), member === "name" ? "name" : member === "source" ? "from" : "what");
}

/** One line that says what a scope's claims are, to compare with. */
export const claimsInWords = (
  claims: readonly TypedClaim[],
  { console: { scopes: text } }: Messages,
): string => claims.map((claim) => `${claim.name} ← ${originInWords(claim, text)}`).join(", ");

export function originInWords(
  { from, what }: TypedClaim,
  { origins }: Messages["console"]["scopes"],
): string {
  const known: Readonly<Record<string, string>> = origins;
  const words = Object.hasOwn(known, from) ? (known[from] ?? from) : from;
  return what === "" ? words : `${words}: ${what}`;
}
