/** Whether a resource is what a filter asks for (RFC 7644 §3.4.2.2). */
import {
  type Attribute,
  attributesOf,
  extensionOf,
  fault,
  findIn,
  isObject,
  type Resource,
  type ResourceType,
} from "./attribute.ts";
import type { AttributePath, CompareOperator, CompareValue, Filter } from "./filter-syntax.ts";

export type Matcher = (resource: Resource) => boolean;

/** @throws ScimFault `invalidFilter` for an attribute that there is not, or an operator that its type does not have */
export function matcherOf(type: ResourceType, filter: Filter): Matcher {
  return compile(filter, (path) => {
    const attributes = attributesOf(type, path.urn);
    const owner = path.urn === undefined ? undefined : extensionOf(type, path.urn);
    return resolve(attributes ?? [], path, owner && [owner.id]);
  });
}

/** Of the elements of a list, as between the brackets of a path. @throws ScimFault `invalidFilter` */
export const elementMatcher = (attribute: Attribute, filter: Filter): Matcher =>
  compile(filter, (path) => resolve(attribute.subAttributes ?? [], path));

interface Target {
  readonly attribute: Attribute;
  /** Members from the resource on. */
  readonly names: readonly string[];
}

function resolve(attributes: readonly Attribute[], path: AttributePath, owner: string[] = []): Target {
  const attribute = findIn(attributes, path.name);
  const inner = path.sub === undefined ? attribute : findIn(attribute?.subAttributes ?? [], path.sub);
  if (!attribute || !inner || inner.returned === "never")
    throw fault(
      "invalidFilter",
      `There is no attribute ${path.name}${path.sub === undefined ? "" : `.${path.sub}`}.`,
    );
  return {
    attribute: inner,
    names: [...owner, attribute.name, ...(inner === attribute ? [] : [inner.name])],
  };
}

type Resolve = (path: AttributePath) => Target;

function compile(filter: Filter, find: Resolve): Matcher {
  switch (filter.op) {
    case "and":
    case "or": {
      const inner = filter.filters.map((one) => compile(one, find));
      return filter.op === "and"
        ? (resource) => inner.every((matches) => matches(resource))
        : (resource) => inner.some((matches) => matches(resource));
    }
    case "not": {
      const inner = compile(filter.filter, find);
      return (resource) => !inner(resource);
    }
    case "some": {
      const { attribute, names } = find(filter.path);
      const matches = elementMatcher(attribute, filter.filter);
      return (resource) => valuesAt(resource, names).some((one) => isObject(one) && matches(one));
    }
    case "pr": {
      const { names } = find(filter.path);
      return (resource) => valuesAt(resource, names).some(isPresent);
    }
    default:
      return comparison(find(filter.path), filter.op, filter.value);
  }
}

const isPresent = (value: unknown): boolean =>
  value !== undefined &&
  value !== null &&
  value !== "" &&
  !(isObject(value) && Object.keys(value).length === 0);

/** All values there, through lists. */
function valuesAt(resource: unknown, names: readonly string[]): readonly unknown[] {
  let values: readonly unknown[] = [resource];
  for (const name of names)
    values = values.flatMap((value) => (isObject(value) && Object.hasOwn(value, name) ? value[name] : []));
  return values.flat().filter((value) => value !== undefined && value !== null);
}

function comparison({ attribute, names }: Target, op: CompareOperator, value: CompareValue): Matcher {
  // `emails co "@example.com"` means the values of its elements.
  const inner = attribute.type === "complex" ? findIn(attribute.subAttributes ?? [], "value") : attribute;
  if (!inner) throw fault("invalidFilter", `${attribute.name} is compared by one of its members.`);
  const path = inner === attribute ? names : [...names, inner.name];
  if (value === null) {
    if (op !== "eq" && op !== "ne") throw fault("invalidFilter", `${op} takes no null.`);
    return (resource) => valuesAt(resource, path).some(isPresent) !== (op === "eq");
  }
  const holds = test(inner, op, value);
  if (op !== "ne") return (resource) => valuesAt(resource, path).some(holds);
  return (resource) => {
    const values = valuesAt(resource, path);
    return values.length === 0 || values.some(holds);
  };
}

const partOf = { co: "includes", sw: "startsWith", ew: "endsWith" } as const;

function test(attribute: Attribute, op: CompareOperator, value: string | number | boolean) {
  const { type, name } = attribute;
  const isText = type !== "boolean" && type !== "integer" && type !== "decimal";
  if (op === "co" || op === "sw" || op === "ew") {
    if (!isText || typeof value !== "string")
      throw fault("invalidFilter", `${op} compares text, not ${name}.`);
    const text = fold(attribute, value);
    return (one: unknown) => typeof one === "string" && fold(attribute, one)[partOf[op]](text);
  }
  const wanted = keyOf(attribute, value);
  const isOrdered = type !== "boolean" && type !== "binary";
  if (wanted === undefined || (!isOrdered && op !== "eq" && op !== "ne"))
    throw fault("invalidFilter", `${op} can't compare ${name} with that.`);
  return (one: unknown) => {
    const key = keyOf(attribute, one);
    if (key === undefined) return false;
    switch (op) {
      case "eq":
        return key === wanted;
      case "ne":
        return key !== wanted;
      case "gt":
        return key > wanted;
      case "ge":
        return key >= wanted;
      case "lt":
        return key < wanted;
      default:
        return key <= wanted;
    }
  };
}

/** What is compared: a time as milliseconds, text without case unless case counts. @returns undefined for another type */
function keyOf(attribute: Attribute, value: unknown): string | number | boolean | undefined {
  switch (attribute.type) {
    case "boolean":
      return typeof value === "string" ? { true: true, false: false }[value.toLowerCase()] : asBoolean(value);
    case "integer":
    case "decimal":
      return typeof value === "number" ? value : undefined;
    case "dateTime": {
      const at = typeof value === "string" ? Date.parse(value) : Number.NaN;
      return Number.isNaN(at) ? undefined : at;
    }
    default:
      return typeof value === "string" ? fold(attribute, value) : undefined;
  }
}

const asBoolean = (value: unknown): boolean | undefined => (typeof value === "boolean" ? value : undefined);

const fold = ({ caseExact }: Attribute, text: string): string =>
  caseExact === true ? text : text.normalize("NFKC").toLowerCase();
