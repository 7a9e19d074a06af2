/** `attributes` and `excludedAttributes` (RFC 7644 §3.4.2.5): what of a resource is answered. */
import {
  extensionOf,
  fault,
  isObject,
  type Resource,
  type ResourceType,
  sameName,
} from "@signet/protocol/scim/attribute";
import { readAttributePath } from "@signet/protocol/scim/filter-syntax";

export interface Projection {
  readonly attributes: readonly string[] | undefined;
  readonly excluded: readonly string[];
}

const MAX_NAMES = 100;

/** @param attributes as in a query, separated by commas, or as in a search, a list. @throws ScimFault */
export function readProjection(attributes: unknown, excluded: unknown): Projection {
  return {
    attributes: readNames("attributes", attributes),
    excluded: readNames("excludedAttributes", excluded) ?? [],
  };
}

function readNames(name: string, value: unknown): string[] | undefined {
  if (value === undefined || value === "") return undefined;
  const all = typeof value === "string" ? value.split(",") : value;
  if (!Array.isArray(all) || all.length > MAX_NAMES || !all.every((one) => typeof one === "string"))
    throw fault("invalidValue", `${name} is a list of at most ${MAX_NAMES} names.`);
  const names = all.map((one: string) => one.trim()).filter((one) => one !== "");
  return names.length === 0 ? undefined : names;
}

/** Returned always, whatever was asked for. */
const always = ["id", "schemas"] as const;

export function project(
  type: ResourceType,
  resource: Resource,
  { attributes, excluded }: Projection,
): Resource {
  if (attributes !== undefined) {
    const kept: Resource = {};
    for (const name of [...always, ...attributes]) copy(type, resource, kept, name);
    return kept;
  }
  if (excluded.length === 0) return resource;
  const kept = { ...resource };
  for (const name of excluded) drop(type, kept, name);
  return kept;
}

/** Whether the projection leaves anything of an attribute of the core schema. */
export function wants(type: ResourceType, { attributes, excluded }: Projection, name: string): boolean {
  const isNamed = (text: string): boolean => {
    const place = placeOf(type, text);
    return place !== undefined && place.extension === undefined && sameName(place.name, name);
  };
  if (attributes !== undefined) return attributes.some(isNamed);
  return !excluded.some((text) => isNamed(text) && placeOf(type, text)?.sub === undefined);
}

interface Place {
  readonly extension: string | undefined;
  readonly name: string;
  readonly sub: string | undefined;
}

/** @returns undefined for a name that this type can't have: it selects nothing */
function placeOf(type: ResourceType, name: string): Place | undefined {
  const whole = extensionOf(type, name);
  if (whole) return { extension: undefined, name: whole.id, sub: undefined };
  const path = readAttributePath(name);
  if (!path) return undefined;
  const extension = path.urn === undefined ? undefined : extensionOf(type, path.urn)?.id;
  if (path.urn !== undefined && extension === undefined && !sameName(path.urn, type.core.id))
    return undefined;
  return { extension, name: path.name, sub: path.sub };
}

const keyOf = (from: Resource, name: string): string | undefined =>
  Object.keys(from).find((key) => sameName(key, name));

function copy(type: ResourceType, resource: Resource, kept: Resource, wanted: string): void {
  const place = placeOf(type, wanted);
  if (!place) return;
  const { extension, name, sub } = place;
  const from = extension === undefined ? resource : resource[extension];
  if (!isObject(from)) return;
  const key = keyOf(from, name);
  if (key === undefined) return;
  if (extension !== undefined && !isObject(kept[extension])) kept[extension] = {};
  const to = extension === undefined ? kept : (kept[extension] as Resource);
  to[key] = sub === undefined ? from[key] : merged(to[key], only(from[key], sub));
}

function only(value: unknown, sub: string): unknown {
  if (Array.isArray(value)) return value.map((one) => only(one, sub));
  if (!isObject(value)) return value;
  const key = keyOf(value, sub);
  return key === undefined ? {} : { [key]: value[key] };
}

/** `emails.value,emails.type` gives both members of each. */
function merged(before: unknown, value: unknown): unknown {
  if (Array.isArray(before) && Array.isArray(value)) return value.map((one, at) => merged(before[at], one));
  return isObject(before) && isObject(value) ? { ...before, ...value } : value;
}

function drop(type: ResourceType, kept: Resource, unwanted: string): void {
  const place = placeOf(type, unwanted);
  if (!place || always.some((name) => sameName(name, place.name) && place.extension === undefined)) return;
  const { extension, name, sub } = place;
  if (extension !== undefined && isObject(kept[extension])) kept[extension] = { ...kept[extension] };
  const from = extension === undefined ? kept : kept[extension];
  const key = isObject(from) ? keyOf(from, name) : undefined;
  if (!isObject(from) || key === undefined) return;
  if (sub === undefined) delete from[key];
  else from[key] = without(from[key], sub);
}

function without(value: unknown, sub: string): unknown {
  if (Array.isArray(value)) return value.map((one) => without(one, sub));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([key]) => !sameName(key, sub)));
}
