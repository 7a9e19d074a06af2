/**
 * PATCH of a resource (RFC 7644 §3.5.2): all operations or none. As Entra ID and Okta send them: operations in any case, keys that are
 * paths, booleans as text, and value filters that find nothing yet.
 */
import {
  type Attribute,
  attributesOf,
  extensionOf,
  fault,
  findIn,
  isObject,
  type Resource,
  type ResourceType,
  sameName,
} from "./attribute.ts";
import { parsePatchPath } from "./filter.ts";
import { type Filter, InvalidFilter, type PatchPath } from "./filter-syntax.ts";
import { elementMatcher } from "./match.ts";
import { readSingle, readValue, requireDemanded, requireFew } from "./read-resource.ts";

const MAX_OPERATIONS = 1_000;
const MAX_PATH = 2_000;
/** Values that the operations of one PATCH look at, for each comparison of their filters: nobody else is served meanwhile. */
const maxWork = { User: 200_000, Group: 2_000_000 } as const;

type Op = "add" | "replace" | "remove";

/** @returns a new resource. @throws ScimFault */
export const patchResource = (type: ResourceType, resource: Resource, body: unknown): Resource =>
  applyOperations(type, resource, readOperations(body));

/** @returns a new resource. @throws ScimFault */
export function applyOperations(
  type: ResourceType,
  resource: Resource,
  operations: readonly Operation[],
): Resource {
  const patched = structuredClone(resource);
  let left: number = maxWork[type.name];
  const spend: Spend = (work) => {
    left -= work;
    if (left < 0) throw fault("tooMany", "The operations look at too many values: send fewer at once.");
  };
  for (const operation of operations) apply({ type, spend }, patched, operation);
  requireDemanded(type, patched);
  return patched;
}

export interface Operation {
  readonly op: Op;
  readonly path: string | undefined;
  readonly value: unknown;
}

/** @throws ScimFault */
export function readOperations(body: unknown): Operation[] {
  const all = isObject(body)
    ? Object.entries(body).find(([key]) => sameName(key, "Operations"))?.[1]
    : undefined;
  if (!Array.isArray(all) || all.length === 0)
    throw fault("invalidSyntax", "Operations is a list with at least one operation.");
  if (all.length > MAX_OPERATIONS)
    throw fault("invalidSyntax", `At most ${MAX_OPERATIONS} operations are taken at once.`);
  return all.map(readOperation);
}

function readOperation(one: unknown): Operation {
  if (!isObject(one) || typeof one["op"] !== "string")
    throw fault("invalidSyntax", "An operation is an object with op.");
  const op = one["op"].toLowerCase();
  const { path, value } = one;
  if (op !== "add" && op !== "replace" && op !== "remove")
    throw fault("invalidSyntax", "op is add, replace or remove.");
  if (path !== undefined && path !== null && typeof path !== "string")
    throw fault("invalidPath", "path is a string.");
  return { op, path: path === null || path === "" ? undefined : path, value };
}

type Spend = (work: number) => void;

interface Patching {
  readonly type: ResourceType;
  readonly spend: Spend;
}

function apply(patching: Patching, resource: Resource, { op, path, value }: Operation): void {
  if (path !== undefined) {
    applyAt(patching, resource, op, path, value);
    return;
  }
  if (op === "remove") throw fault("noTarget", "remove needs a path.");
  if (!isObject(value)) throw fault("invalidValue", "Without a path the value is an object.");
  for (const [key, inner] of Object.entries(value))
    if (!ignored.some((name) => sameName(name, key))) applyAt(patching, resource, op, key, inner);
}

/** Clients send back what they were shown. */
const ignored = ["id", "meta", "schemas", "groups"] as const;

function applyAt(patching: Patching, resource: Resource, op: Op, text: string, value: unknown): void {
  const { type, spend } = patching;
  const extension = extensionOf(type, text);
  if (extension) {
    applyToExtension(patching, resource, op, extension.id, value);
    return;
  }
  const { path, filter, sub } = readPath(text);
  const attribute = findIn(attributesOf(type, path.urn) ?? [], path.name);
  if (!attribute) throw fault("invalidPath", `There is no attribute ${path.name}.`);
  const isRemoval = op === "remove" || value === null;
  const isWhole = filter === undefined && (path.sub ?? sub) === undefined && value == null;
  if (isRemoval && (type.demanded.includes(attribute.name) || (attribute.required === true && isWhole)))
    throw fault("mutability", `${attribute.name} is required.`);
  const owner = path.urn === undefined ? undefined : extensionOf(type, path.urn);
  const target = owner ? partOf(resource, owner.id) : resource;
  change(target, attribute, { op, filter, sub: path.sub ?? sub, value, spend });
  if (owner && Object.keys(target).length === 0) delete resource[owner.id];
}

/** @throws ScimFault `invalidPath` */
export function readPath(text: string): PatchPath {
  try {
    return parsePatchPath(text, MAX_PATH);
  } catch (error) {
    throw error instanceof InvalidFilter ? fault("invalidPath", `${error.message}.`) : error;
  }
}

function applyToExtension(patching: Patching, resource: Resource, op: Op, id: string, value: unknown): void {
  if (op === "remove" || value === null) {
    delete resource[id];
    return;
  }
  if (!isObject(value)) throw fault("invalidValue", `${id} is an object.`);
  for (const [key, inner] of Object.entries(value))
    if (!sameName(key, "schemas")) applyAt(patching, resource, op, `${id}:${key}`, inner);
}

const partOf = (resource: Resource, name: string): Resource => {
  if (!isObject(resource[name])) resource[name] = {};
  return resource[name] as Resource;
};

interface Change {
  readonly op: Op;
  readonly filter: Filter | undefined;
  readonly sub: string | undefined;
  readonly value: unknown;
  readonly spend: Spend;
}

function change(target: Resource, attribute: Attribute, { op, filter, sub, value, spend }: Change): void {
  requireWritable(attribute);
  // A password is taken and forgotten.
  if (attribute.mutability === "writeOnly") return;
  const member = sub === undefined ? undefined : findIn(attribute.subAttributes ?? [], sub);
  if (sub !== undefined && !member) throw fault("invalidPath", `There is no ${attribute.name}.${sub}.`);
  if (member) requireWritable(member);
  const isRemoval = op === "remove" || value === null;
  if (!isRemoval && value === undefined) throw fault("invalidValue", `${op} needs a value.`);
  if (attribute.multiValued === true) {
    changeList(target, attribute, { op: isRemoval ? "remove" : op, filter, member, value, spend });
    return;
  }
  if (filter) throw fault("invalidPath", `${attribute.name} has one value, which no filter chooses.`);
  if (member) changeMember(target, attribute, member, isRemoval ? undefined : value);
  else changeWhole(target, attribute, isRemoval ? undefined : value);
}

/** Members that are not sent stay (RFC 7644 §3.5.2.1 and §3.5.2.3). */
function changeWhole(target: Resource, attribute: Attribute, value: unknown): void {
  const read = readValue(attribute, value, attribute.name);
  const before = target[attribute.name];
  put(target, attribute.name, isObject(read) && isObject(before) ? { ...before, ...read } : read);
}

function requireWritable({ name, mutability }: Attribute): void {
  if (mutability === "readOnly") throw fault("mutability", `${name} is read-only.`);
}

function put(target: Resource, name: string, value: unknown): void {
  if (value === undefined) delete target[name];
  else target[name] = value;
}

function changeMember(target: Resource, attribute: Attribute, member: Attribute, value: unknown): void {
  const owner = partOf(target, attribute.name);
  put(owner, member.name, readValue(member, value, `${attribute.name}.${member.name}`));
  if (Object.keys(owner).length === 0) delete target[attribute.name];
}

interface ListChange {
  readonly op: Op;
  readonly filter: Filter | undefined;
  readonly member: Attribute | undefined;
  readonly value: unknown;
  readonly spend: Spend;
}

function changeList(target: Resource, attribute: Attribute, wanted: ListChange): void {
  const present = Array.isArray(target[attribute.name]) ? (target[attribute.name] as unknown[]) : [];
  wanted.spend(present.length * (wanted.filter ? comparisonsIn(wanted.filter) : 1));
  const next =
    wanted.op === "remove" ? without(attribute, present, wanted) : withValues(attribute, present, wanted);
  requireFew(attribute, next, attribute.name);
  put(target, attribute.name, next.length === 0 ? undefined : next);
}

function comparisonsIn(filter: Filter): number {
  if (filter.op === "and" || filter.op === "or")
    return filter.filters.reduce((sum, one) => sum + comparisonsIn(one), 0);
  return filter.op === "not" || filter.op === "some" ? comparisonsIn(filter.filter) : 1;
}

/** Okta and Entra ID name the members to remove in a value, without a filter. */
function without(attribute: Attribute, present: unknown[], { filter, member, value }: ListChange): unknown[] {
  if (filter) {
    const isChosen = elementMatcher(attribute, filter);
    const left = present.flatMap((one) => {
      if (!isObject(one) || !isChosen(one)) return [one];
      return member ? withoutMember(one, member.name) : [];
    });
    return left;
  }
  if (member) return present.flatMap((one) => (isObject(one) ? withoutMember(one, member.name) : [one]));
  if (value === undefined || value === null) return [];
  const named = new Set(asList(readValue(attribute, value, attribute.name)).map(keyOf));
  return present.filter((one) => !named.has(keyOf(one)));
}

function withoutMember({ ...one }: Record<string, unknown>, name: string): Array<Record<string, unknown>> {
  delete one[name];
  // What has no value of its own any more says nothing.
  return Object.keys(one).length === 0 || name === "value" ? [] : [one];
}

function withValues(attribute: Attribute, present: unknown[], wanted: ListChange): unknown[] {
  const { op, filter, member, value } = wanted;
  if (filter) return withChosen(attribute, present, filter, wanted);
  if (member) {
    const read = readSingle(member, value, `${attribute.name}.${member.name}`);
    const changed = present.map((one) => (isObject(one) ? { ...one, [member.name]: read } : one));
    return changed.length > 0 ? changed : [{ [member.name]: read }];
  }
  const added = asList(readValue(attribute, value, attribute.name));
  return op === "replace" ? distinct(added) : joined(present, added);
}

/** @throws ScimFault `noTarget` when the filter finds nothing and does not say what to make */
function withChosen(
  attribute: Attribute,
  present: unknown[],
  filter: Filter,
  { member, value }: ListChange,
): unknown[] {
  const isChosen = elementMatcher(attribute, filter);
  const changeOne = (one: Record<string, unknown>): Record<string, unknown> => {
    if (member)
      return { ...one, [member.name]: readSingle(member, value, `${attribute.name}.${member.name}`) };
    const [read] = asList(readValue(attribute, value, attribute.name));
    return { ...one, ...(isObject(read) ? read : {}) };
  };
  let found = false;
  const changed = present.map((one) => {
    if (!isObject(one) || !isChosen(one)) return one;
    found = true;
    return changeOne(one);
  });
  if (found)
    return onePrimary(
      changed,
      changed.filter((one, at) => one !== present[at]),
    );
  const made = changeOne(template(attribute, filter));
  return onePrimary([...present, made], [made]);
}

/** The element that `type eq "work" and primary eq true` describes. */
function template(attribute: Attribute, filter: Filter): Record<string, unknown> {
  if (filter.op === "and") return Object.assign({}, ...filter.filters.map((one) => template(attribute, one)));
  const member = filter.op === "eq" ? findIn(attribute.subAttributes ?? [], filter.path.name) : undefined;
  if (filter.op !== "eq" || !member)
    throw fault("noTarget", `No value of ${attribute.name} is what the filter chooses.`);
  return { [member.name]: readSingle(member, filter.value, `${attribute.name}.${member.name}`) };
}

const asList = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

/** Two values are the same by what they hold, of the same type: members of a group by their ids alone. */
function keyOf(one: unknown): string {
  if (!isObject(one)) return JSON.stringify(one);
  const { value, type } = one;
  return value === undefined
    ? JSON.stringify(one)
    : JSON.stringify([value, isMemberType(type) ? null : type]);
}

const isMemberType = (type: unknown): boolean => type === undefined || type === "User" || type === "Group";

const distinct = (values: unknown[]): unknown[] => [
  ...new Map(values.map((one) => [keyOf(one), one])).values(),
];

/** A value that is there already is not added again; a new primary one takes the place of the old. */
function joined(present: unknown[], added: unknown[]): unknown[] {
  const all = new Map(present.map((one) => [keyOf(one), one]));
  for (const one of added)
    all.set(keyOf(one), isObject(one) ? { ...(all.get(keyOf(one)) ?? {}), ...one } : one);
  const values = [...all.values()];
  return onePrimary(
    values,
    added.map((one) => all.get(keyOf(one))),
  );
}

function onePrimary(values: unknown[], newer: readonly unknown[]): unknown[] {
  const chosen = newer.findLast((one) => isObject(one) && one["primary"] === true);
  if (chosen === undefined) return values;
  return values.map((one) =>
    one !== chosen && isObject(one) && one["primary"] === true ? { ...one, primary: false } : one,
  );
}
