/** What a client sends, in normal form: leniently about what it leaves out or adds, strictly about what a value is. */
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
import { readAttributePath } from "./filter-syntax.ts";

/** Of members a group has many; everything else is looked at whole by every filter and PATCH. */
const maxValues = ({ name }: Attribute): number => (name === "members" ? 100_000 : 200);
const MAX_TEXT = 20_000;

/**
 * @param body of POST or PUT; unknown and read-only members are left out, `null` and an empty list are unassigned (RFC 7643 §2.5)
 * @throws ScimFault
 */
export function readResource(type: ResourceType, body: unknown): Resource {
  if (!isObject(body)) throw fault("invalidSyntax", "The body is a JSON object.");
  const resource: Resource = {};
  for (const [key, value] of Object.entries(body)) putMember(type, resource, key, value);
  requireDemanded(type, resource);
  return resource;
}

/** @throws ScimFault `invalidValue` */
export function requireDemanded(type: ResourceType, resource: Resource): void {
  for (const name of type.demanded)
    if (typeof resource[name] !== "string" || resource[name].trim() === "")
      throw fault("invalidValue", `${name} is required.`);
}

function putMember(type: ResourceType, resource: Resource, key: string, value: unknown): void {
  const extension = extensionOf(type, key);
  if (extension) {
    if (value === null) return;
    if (!isObject(value)) throw fault("invalidValue", `${extension.id} is an object.`);
    const members = readMembers(extension.attributes, value, extension.id);
    if (Object.keys(members).length > 0) resource[extension.id] = members;
    return;
  }
  const path = readAttributePath(key);
  const attribute = path && findIn(attributesOf(type, path.urn) ?? [], path.name);
  if (!path || path.sub !== undefined || !attribute || isUnread(attribute)) return;
  const owner = path.urn === undefined ? undefined : extensionOf(type, path.urn);
  put(
    owner ? part(resource, owner.id) : resource,
    attribute.name,
    readValue(attribute, value, attribute.name),
  );
}

const isUnread = ({ mutability }: Attribute): boolean =>
  mutability === "readOnly" || mutability === "writeOnly";

const part = (resource: Resource, name: string): Resource => {
  if (!isObject(resource[name])) resource[name] = {};
  return resource[name] as Resource;
};

function put(target: Resource, name: string, value: unknown): void {
  if (value === undefined) delete target[name];
  else target[name] = value;
}

function readMembers(
  attributes: readonly Attribute[],
  value: Record<string, unknown>,
  where: string,
): Resource {
  const members: Resource = {};
  for (const [key, inner] of Object.entries(value)) {
    const attribute = findIn(attributes, key);
    // What a member's name is, clients send along; it is looked up anew.
    if (!attribute || attribute.mutability === "readOnly") continue;
    put(members, attribute.name, readValue(attribute, inner, `${where}.${attribute.name}`));
  }
  return members;
}

/**
 * @param where the path, for sentences
 * @returns undefined when it is unassigned
 * @throws ScimFault `invalidValue`
 */
export function readValue(attribute: Attribute, value: unknown, where: string): unknown {
  if (value === null || value === undefined) return undefined;
  if (attribute.multiValued !== true) return readSingle(attribute, value, where);
  // One value without its list is common.
  const values = Array.isArray(value) ? value : [value];
  requireFew(attribute, values, where);
  const read = values.map((one) => readSingle(attribute, one, where)).filter((one) => one !== undefined);
  if (read.filter((one) => isObject(one) && one["primary"] === true).length > 1)
    throw fault("invalidValue", `At most one value of ${where} is primary.`);
  return read.length === 0 ? undefined : read;
}

/** @throws ScimFault `invalidValue` */
export function requireFew(attribute: Attribute, values: readonly unknown[], where: string): void {
  const most = maxValues(attribute);
  if (values.length > most) throw fault("invalidValue", `${where} has at most ${most} values.`);
}

/** One value of a list, or the value. */
export function readSingle(attribute: Attribute, value: unknown, where: string): unknown {
  if (value === null) return undefined;
  if (attribute.type === "complex") return readComplex(attribute, value, where);
  if (attribute.type === "boolean") return readBoolean(value, where);
  if (attribute.type === "integer" || attribute.type === "decimal") {
    if (typeof value !== "number") throw fault("invalidValue", `${where} is a number.`);
    return value;
  }
  if (typeof value !== "string") throw fault("invalidValue", `${where} is a string.`);
  if (value.length > MAX_TEXT) throw fault("invalidValue", `${where} has at most ${MAX_TEXT} characters.`);
  if (attribute.type === "dateTime" && Number.isNaN(Date.parse(value)))
    throw fault("invalidValue", `${where} is a time.`);
  return value;
}

/** Entra ID sends a manager as a string, as an object, or as a list with one of them. */
function readComplex(attribute: Attribute, value: unknown, where: string): unknown {
  const members = attribute.subAttributes ?? [];
  const only = Array.isArray(value) && value.length === 1 ? value[0] : value;
  if (isObject(only)) {
    const read = readMembers(members, only, where);
    return Object.keys(read).length === 0 ? undefined : read;
  }
  const inner = findIn(members, "value");
  if (!inner || typeof only !== "string") throw fault("invalidValue", `${where} is an object.`);
  return only === "" ? undefined : { value: readSingle(inner, only, where) };
}

/** Entra ID sends "True" and "False". */
function readBoolean(value: unknown, where: string): boolean {
  const known = typeof value === "string" ? { true: true, false: false }[value.toLowerCase()] : value;
  if (typeof known !== "boolean") throw fault("invalidValue", `${where} is true or false.`);
  return known;
}
