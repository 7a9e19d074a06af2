/** A custom scope as form fields: read, converted to the core's content, and its faults by field. */
import type { CustomScope, ScopeClaim } from "../../../core/scopes/custom-scope.ts";
import type { ScopeContent } from "../../../core/scopes/custom-scopes.ts";
import { claimPaths, MAX_CLAIMS, type ScopeFault } from "../../../core/scopes/validation.ts";
import type { Messages } from "../../../html/messages/messages.ts";

export type ScopeInput = {
  name: string;
  displayName: string;
  description: string;
  sensitive: boolean;
  /** Empty: it belongs to no resource. */
  resourceId: string;
  claims: readonly ClaimInput[];
};

export type ClaimInput = {
  name: string;
  /** One of `claimOrigins`. */
  from: string;
  /** Name of the attribute, or the fixed value. */
  what: string;
};

/** Where a claim's value can come from; the attributes and `static` need `what`. */
export const claimOrigins: readonly string[] = [
  ...claimPaths.user.map((path) => `user.${path}`),
  "user.attribute",
  ...claimPaths.membership.map((path) => `membership.${path}`),
  "membership.attribute",
  "static",
];

const emptyClaim: ClaimInput = { name: "", from: "user.attribute", what: "" };

export const emptyScope: ScopeInput = {
  name: "",
  displayName: "",
  description: "",
  sensitive: false,
  resourceId: "",
  claims: [emptyClaim],
};

export const claimFieldId = (row: number, field: keyof ClaimInput): string => `claim-${row}-${field}`;

export function toScopeInput(scope: CustomScope): ScopeInput {
  const { name, displayName, description, sensitive, claims, resourceId } = scope;
  const input = { name, displayName, description, sensitive, resourceId: resourceId ?? "" };
  return { ...input, claims: claims.map(toClaimInput) };
}

function toClaimInput(claim: ScopeClaim): ClaimInput {
  const { name, source } = claim;
  if (source === "static") return { name, from: "static", what: JSON.stringify(claim.value) };
  const attribute = /^attributes\.(.+)$/.exec(claim.path)?.[1];
  return attribute === undefined
    ? { name, from: `${source}.${claim.path}`, what: "" }
    : { name, from: `${source}.attribute`, what: attribute };
}

/** Empty rows are left out. */
export function readScopeInput(values: ReadonlyMap<string, string>): ScopeInput {
  const text = (id: string, max: number) => (values.get(id) ?? "").slice(0, max);
  const claims: ClaimInput[] = [];
  // Empty fields are not sent; the select of each row is.
  for (let row = 0; row <= MAX_CLAIMS && values.has(claimFieldId(row, "from")); row += 1) {
    const name = text(claimFieldId(row, "name"), 200).trim();
    const what = text(claimFieldId(row, "what"), 4_000).trim();
    const from = text(claimFieldId(row, "from"), 100);
    if (name !== "" || what !== "") claims.push({ name, from, what });
  }
  return {
    name: text("name", 200).trim(),
    displayName: text("displayName", 200).trim(),
    // One line.
    description: text("description", 1_000)
      .replaceAll(/\s*\n\s*/g, " ")
      .trim(),
    sensitive: values.has("sensitive"),
    resourceId: text("resourceId", 40).toLowerCase(),
    claims,
  };
}

/** With an empty row at the end to type into. */
export const withEmptyRow = (input: ScopeInput): ScopeInput => ({
  ...input,
  claims: [...input.claims, emptyClaim].slice(0, MAX_CLAIMS),
});

/** The core validates it. */
export function toContent({ displayName, description, sensitive, claims }: ScopeInput): ScopeContent {
  return { displayName, description, sensitive, claims: claims.map(toClaim) };
}

function toClaim({ name, from, what }: ClaimInput): ScopeClaim {
  if (from === "static") return { name, source: "static", value: parseJsonOrText(what) };
  const [, source, path] = /^(user|membership)\.(\w+)$/.exec(from) ?? [];
  // An origin that the form does not offer becomes a path that the core refuses.
  if (source !== "user" && source !== "membership") return { name, source: "user", path: "" };
  return { name, source, path: path === "attribute" ? `attributes.${what}` : (path ?? "") };
}

/** `true`, `42` and `["a"]` are JSON; anything else is a string. */
function parseJsonOrText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text === "" ? undefined : text;
  }
}

/** The core's faults as texts, by field. */
export function scopeFaults(
  faults: readonly ScopeFault[],
  { console: { scopes: text } }: Messages,
): Record<string, string> {
  const byField: Record<string, string> = {};
  for (const { path, code } of faults) {
    const field = toFieldId(path);
    byField[field] ??= text.faults[code];
  }
  return byField;
}

function toFieldId(path: string): string {
  const [, row, member = ""] = /^claims\[(\d+)\]\.(\w+)$/.exec(path) ?? [];
  if (row === undefined) return path === "claims" ? claimFieldId(0, "name") : path;
  return claimFieldId(Number(row), member === "name" ? "name" : member === "source" ? "from" : "what");
}

/** One line, to compare with what was typed. */
export const displayClaims = (
  claims: readonly ClaimInput[],
  { console: { scopes: text } }: Messages,
): string => claims.map((claim) => `${claim.name} ← ${displayOrigin(claim, text)}`).join(", ");

export function displayOrigin(
  { from, what }: ClaimInput,
  { origins }: Messages["console"]["scopes"],
): string {
  const known: Readonly<Record<string, string>> = origins;
  const label = Object.hasOwn(known, from) ? (known[from] ?? from) : from;
  return what === "" ? label : `${label}: ${what}`;
}
