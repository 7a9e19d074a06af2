/**
 * What a PATCH does to the members of a group, without a look at who they are: a group may have a hundred thousand, and directories
 * send one change after the other.
 */
import { attributesOf, fault, findIn, isObject, type Resource, sameName } from "./attribute.ts";
import type { Filter, PatchPath } from "./filter-syntax.ts";
import { GROUP_SCHEMA, groupType } from "./group-schema.ts";
import { applyOperations, type Operation, readOperations, readPath } from "./patch.ts";
import { readValue } from "./read-resource.ts";

export interface MembersChange {
  /** Whether everybody goes who is not in `add`. */
  readonly replaces: boolean;
  /** Ids of users and groups. */
  readonly add: ReadonlySet<string>;
  readonly remove: ReadonlySet<string>;
}

export interface GroupPatch {
  /** Undefined: who is a member decides, as with `members[type eq "Group"]`. */
  readonly members: MembersChange | undefined;
  /** @param resource without members; with them, where `members` is undefined. @throws ScimFault */
  patch(resource: Resource): Resource;
}

/** @throws ScimFault */
export function readGroupPatch(body: unknown): GroupPatch {
  const operations = readOperations(body);
  const { ofMembers, others } = split(operations);
  const members = compose(ofMembers);
  const applied = members === undefined ? operations : others;
  return { members, patch: (resource) => applyOperations(groupType, resource, applied) };
}

/** Of the resource as a client sent it. @throws ScimFault `invalidValue` */
export const membersOf = (resource: Resource): string[] => idsIn(resource["members"]);

interface MembersOperation {
  readonly op: Operation["op"];
  readonly path: PatchPath;
  readonly value: unknown;
}

/** In two, which change different things: so their order among each other makes no difference. */
function split(operations: readonly Operation[]) {
  const ofMembers: MembersOperation[] = [];
  const others: Operation[] = [];
  for (const operation of operations) {
    const { op, path, value } = operation;
    if (path !== undefined || op === "remove" || !isObject(value)) {
      const at = path === undefined ? undefined : pathToMembers(path);
      if (at) ofMembers.push({ op, path: at, value });
      else others.push(operation);
      continue;
    }
    const rest: Record<string, unknown> = {};
    for (const [key, inner] of Object.entries(value)) {
      const at = pathToMembers(key);
      if (at) ofMembers.push({ op, path: at, value: inner });
      else rest[key] = inner;
    }
    if (Object.keys(rest).length > 0) others.push({ op, path, value: rest });
  }
  return { ofMembers, others };
}

/** @returns undefined where it leads elsewhere, or nowhere: then it is refused with the others */
function pathToMembers(text: string): PatchPath | undefined {
  if (!/members/i.test(text)) return undefined;
  const path = readPath(text);
  const { urn, name } = path.path;
  const isOwn = urn === undefined || sameName(urn, GROUP_SCHEMA);
  return isOwn && sameName(name, "members") ? path : undefined;
}

const membersAttribute = findIn(attributesOf(groupType, undefined) ?? [], "members");

/** @returns undefined when it takes the members to tell */
function compose(operations: readonly MembersOperation[]): MembersChange | undefined {
  let replaces = false;
  const add = new Set<string>();
  const remove = new Set<string>();
  const put = (ids: readonly string[], to: Set<string>, from: Set<string>): void => {
    for (const id of ids) {
      from.delete(id);
      to.add(id);
    }
  };
  const clear = (): void => {
    replaces = true;
    add.clear();
    remove.clear();
  };
  for (const { op, path, value } of operations) {
    if (path.filter || path.sub !== undefined || path.path.sub !== undefined) {
      const chosen = op === "remove" && path.sub === undefined ? chosenBy(path) : undefined;
      if (!chosen) return undefined;
      put(chosen, remove, add);
      continue;
    }
    if (op !== "remove" && value === undefined) throw fault("invalidValue", `${op} needs a value.`);
    // `add` of nothing adds nothing; anything else without a value means all of them.
    if (op === "add") put(idsIn(value), add, remove);
    else if (op === "remove" && value !== undefined && value !== null) put(idsIn(value), remove, add);
    else {
      clear();
      put(op === "replace" ? idsIn(value) : [], add, remove);
    }
  }
  return { replaces, add, remove };
}

/** Those that `value eq "…"`, or several of these joined by `or`, names. */
function chosenBy({ path, filter }: PatchPath): string[] | undefined {
  return filter && path.sub === undefined ? namedIn(filter) : undefined;
}

function namedIn(filter: Filter): string[] | undefined {
  if (filter.op === "or") {
    const named = filter.filters.map(namedIn);
    return named.some((one) => one === undefined) ? undefined : named.flatMap((one) => one ?? []);
  }
  if (filter.op !== "eq" || typeof filter.value !== "string") return undefined;
  const { urn, name, sub } = filter.path;
  return urn === undefined && sub === undefined && sameName(name, "value") ? [filter.value] : undefined;
}

/** @throws ScimFault `invalidValue` */
function idsIn(value: unknown): string[] {
  if (!membersAttribute) throw new Error("groups have members");
  const read = readValue(membersAttribute, value, "members");
  return (Array.isArray(read) ? read : []).map(idOf);
}

/** Some name a member by its address alone. */
function idOf(member: unknown): string {
  const { value, $ref: address } = isObject(member) ? member : {};
  const id = typeof value === "string" ? value : typeof address === "string" ? lastPart(address) : "";
  if (id === "") throw fault("invalidValue", "A member has the id of a user or a group as its value.");
  return id;
}

const lastPart = (address: string): string => address.split("/").at(-1) ?? "";
