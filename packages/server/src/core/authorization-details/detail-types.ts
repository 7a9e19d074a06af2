/** Finds types of authorization details on the hot path; creates, changes and deletes them. */
import { newUuid } from "@signet/protocol/uuid";
import type { Db } from "../../db/open.ts";
import type { Act, AuditEvent } from "../audit/audit.store.ts";
import { changeTrackingCache } from "../cache/record-cache.ts";
import { lockOrganisation } from "../organisations/organisations.store.ts";
import { type RecordDeps, recordChange } from "../record-changes.ts";
import { type DetailType, MAX_DETAIL_TYPES } from "./detail-type.ts";
import {
  deleteDetailTypeRow,
  findDetailType,
  insertDetailType,
  listDetailTypes,
  replaceDetailType,
} from "./detail-types.store.ts";
import { type SchemaFault, schemaFaults } from "./schema-rules.ts";
import { templateFault } from "./template.ts";

export interface DetailTypeDirectory {
  /** Oldest first, disabled ones too. */
  list(orgId: string): Promise<readonly DetailType[]>;
}

export function detailTypeDirectory(deps: RecordDeps): DetailTypeDirectory {
  const cache = changeTrackingCache<readonly DetailType[]>(deps, "detail-type", {
    capacity: 5_000,
    load: (orgId) => listDetailTypes(deps.database.query, orgId),
  });
  return { list: async (orgId) => cache.peek(orgId, "") ?? (await cache.get(orgId, "")) ?? [] };
}

export type DetailTypeContent = Pick<
  DetailType,
  "displayName" | "template" | "schema" | "resource" | "enabled"
>;

/** For pages, which translate it. */
export type DetailTypeFaultCode = "type" | "name" | "template" | "schema" | "resource" | "too-many";

export interface DetailTypeFault {
  readonly path: string;
  readonly message: string;
  readonly code: DetailTypeFaultCode;
}

export class InvalidDetailType extends Error {
  readonly faults: readonly DetailTypeFault[];
  constructor(faults: readonly DetailTypeFault[]) {
    super(faults.map(({ path, message }) => `${path}: ${message}`).join("; "));
    this.name = "InvalidDetailType";
    this.faults = faults;
  }
}

export class DetailTypeConflict extends Error {
  readonly code: "type-taken" | "changed-meanwhile";
  constructor(code: DetailTypeConflict["code"]) {
    super(
      code === "type-taken"
        ? "the organisation already has this type of authorization details"
        : "another request has changed the type",
    );
    this.name = "DetailTypeConflict";
    this.code = code;
  }
}

type NewDetailType = Act & DetailTypeContent & Pick<DetailType, "type">;

/** @throws InvalidDetailType naming every fault, DetailTypeConflict */
export async function createDetailType(deps: RecordDeps, input: NewDetailType): Promise<DetailType> {
  const { orgId, actor, address, ...content } = input;
  requireValidDetailType(content);
  const now = deps.clock();
  const stored = { orgId, id: newUuid(), ...trimmed(content) };
  const type: DetailType = { ...stored, createdAt: now, updatedAt: now, version: 1 };
  await deps.database.transaction(async (tx) => {
    // Concurrent creations are counted one after the other.
    await lockOrganisation(tx, orgId);
    if ((await listDetailTypes(tx, orgId)).length >= MAX_DETAIL_TYPES) throw tooMany();
    if (!(await insertDetailType(tx, type))) throw new DetailTypeConflict("type-taken");
    await recordTypeChange(tx, deps, input, type, "authorization-detail-type.created");
  });
  return type;
}

const tooMany = () =>
  new InvalidDetailType([
    { path: "type", message: `an organisation has at most ${MAX_DETAIL_TYPES} types`, code: "too-many" },
  ]);

type DetailTypeChange = Act & {
  readonly id: string;
  readonly content: Partial<DetailTypeContent>;
  /** The version that was read; undefined: any. */
  readonly version?: number;
};

/**
 * Changes a type. Details that were granted before stay as they were.
 * @returns undefined when there is no such type
 * @throws InvalidDetailType naming every fault, DetailTypeConflict
 */
export async function changeDetailType(
  deps: RecordDeps,
  { id, content, version, ...act }: DetailTypeChange,
): Promise<DetailType | undefined> {
  return deps.database.transaction(async (tx) => {
    const before = await findDetailType(tx, act.orgId, id);
    if (!before) return undefined;
    if (version !== undefined && version !== before.version)
      throw new DetailTypeConflict("changed-meanwhile");
    const merged = { ...before, ...content };
    requireValidDetailType(merged);
    const type = { ...before, ...trimmed(merged), updatedAt: deps.clock(), version: before.version + 1 };
    if (!(await replaceDetailType(tx, type))) throw new DetailTypeConflict("changed-meanwhile");
    await recordTypeChange(tx, deps, act, type, "authorization-detail-type.changed");
    return type;
  });
}

/**
 * Deletes a type: new and refreshed tokens no longer have such details, also when a type of this name is made anew.
 * @returns false when there is no such type. @throws DetailTypeConflict
 */
export async function deleteDetailType(
  deps: RecordDeps,
  { id, version, ...act }: Omit<DetailTypeChange, "content">,
): Promise<boolean> {
  return deps.database.transaction(async (tx) => {
    const type = await findDetailType(tx, act.orgId, id);
    if (!type) return false;
    if ((version !== undefined && version !== type.version) || !(await deleteDetailTypeRow(tx, type)))
      throw new DetailTypeConflict("changed-meanwhile");
    await recordTypeChange(tx, deps, act, type, "authorization-detail-type.deleted");
    return true;
  });
}

type Content = DetailTypeContent & Pick<DetailType, "type">;

const trimmed = ({ type, displayName, template, schema, resource, enabled }: Content): Content => ({
  ...{ type, schema, resource, enabled },
  displayName: displayName.trim(),
  template: template.trim(),
});

/** RFC 9396 §2: a text that names the API's own meaning; a URI of the API's owner is recommended. */
export const isDetailTypeName = (type: string): boolean => /^[\x21\x23-\x5b\x5d-\x7e]{1,255}$/.test(type);

/** @throws InvalidDetailType naming every fault */
export function requireValidDetailType({ type, displayName, template, schema, resource }: Content): void {
  const isName = (text: string) =>
    text.trim() !== "" && [...text].length <= 100 && !/[\p{Cc}\p{Cf}\u2028\u2029]/u.test(text);
  const fault = (code: DetailTypeFaultCode, path: string, message: string): DetailTypeFault[] => [
    { path, message, code },
  ];
  const wrongTemplate = templateFault(template);
  const faults = [
    ...(isDetailTypeName(type)
      ? []
      : fault("type", "type", "must be 1 to 255 printable characters without spaces")),
    ...(isName(displayName)
      ? []
      : fault("name", "displayName", "must be 1 to 100 characters without control characters")),
    ...(wrongTemplate === undefined ? [] : fault("template", "template", wrongTemplate)),
    ...schemaFaults(schema).map(inSchema),
    ...(resource === null || isResource(resource)
      ? []
      : fault("resource", "resource", "must be an absolute URI without fragment (RFC 8707 §2)")),
  ];
  if (faults.length > 0) throw new InvalidDetailType(faults);
}

const inSchema = ({ path, message }: SchemaFault): DetailTypeFault => ({
  path: `schema${path.replaceAll("/", ".")}`,
  message,
  code: "schema",
});

const isResource = (uri: string): boolean => uri.length <= 2_048 && URL.canParse(uri) && !uri.includes("#");

const recordTypeChange = (
  tx: Db,
  deps: RecordDeps,
  { orgId, actor, address }: Act,
  { id: target, type }: DetailType,
  action: AuditEvent["action"],
): Promise<void> =>
  recordChange(tx, deps, "detail-type", {
    ...{ orgId, actor, action, target, at: deps.clock(), details: { type } },
    ...(address === undefined ? {} : { address }),
  });
