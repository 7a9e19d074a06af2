/** Finds custom scopes on the hot path; creates, changes and deletes them. */
import { newUuid } from "@signet/protocol/uuid";
import type { Db } from "../../db/open.ts";
import { lockApplications } from "../applications/applications.store.ts";
import { withdrawScope } from "../applications/defined-scopes.ts";
import type { Act, AuditEvent } from "../audit/audit.store.ts";
import { changeTrackingCache } from "../cache/record-cache.ts";
import { lockOrganisation } from "../organisations/organisations.store.ts";
import { type RecordDeps, recordChange } from "../record-changes.ts";
import type { CustomScope } from "./custom-scope.ts";
import {
  deleteCustomScopeRow,
  findCustomScope,
  insertCustomScope,
  listCustomScopes,
  replaceCustomScope,
} from "./scopes.store.ts";
import { InvalidScope, requireValidScope } from "./validation.ts";

export interface CustomScopeDirectory {
  /** Oldest first. */
  list(orgId: string): Promise<readonly CustomScope[]>;
}

export function customScopeDirectory(deps: RecordDeps): CustomScopeDirectory {
  const cache = changeTrackingCache<readonly CustomScope[]>(deps, "scope", {
    capacity: 5_000,
    load: (orgId) => listCustomScopes(deps.database.query, orgId),
  });
  return { list: async (orgId) => cache.peek(orgId, "") ?? (await cache.get(orgId, "")) ?? [] };
}

/** Every token request and consent page scans all of them. */
export const MAX_SCOPES = 100;

export type ScopeContent = Pick<CustomScope, "displayName" | "description" | "claims" | "sensitive">;

export interface NewCustomScope extends ScopeContent {
  readonly orgId: string;
  readonly name: string;
  readonly actor: string;
  readonly address?: string;
}

export class ScopeConflict extends Error {
  readonly code: "name-taken" | "changed-meanwhile";
  constructor(code: ScopeConflict["code"]) {
    super(
      code === "name-taken"
        ? "the organisation already has a scope with this name"
        : "another request has changed the scope",
    );
    this.name = "ScopeConflict";
    this.code = code;
  }
}

/** @throws InvalidScope naming every fault, ScopeConflict */
export async function createCustomScope(deps: RecordDeps, input: NewCustomScope): Promise<CustomScope> {
  requireValidScope(input);
  const now = deps.clock();
  const { orgId, name, displayName, description, claims, sensitive, actor, address } = input;
  const scope: CustomScope = {
    orgId,
    id: newUuid(),
    name,
    displayName: displayName.trim(),
    description: description.trim(),
    claims,
    sensitive,
    resourceId: null,
    createdAt: now,
    updatedAt: now,
    version: 1,
  };
  await deps.database.transaction(async (tx) => {
    // Concurrent creations are counted one after the other.
    await lockOrganisation(tx, orgId);
    if ((await listCustomScopes(tx, orgId)).length >= MAX_SCOPES)
      throw new InvalidScope([
        {
          path: "name",
          message: `an organisation has at most ${MAX_SCOPES} scopes`,
          code: "too-many-scopes",
        },
      ]);
    if (!(await insertCustomScope(tx, scope))) throw new ScopeConflict("name-taken");
    await recordScopeChange(tx, deps, { orgId, id: scope.id, name, actor, address, action: "scope.created" });
  });
  return scope;
}

export interface ScopeChange {
  readonly orgId: string;
  readonly id: string;
  readonly content: Partial<ScopeContent>;
  /** The version that was read; undefined: any. */
  readonly version?: number;
  readonly actor: string;
  readonly address?: string;
}

/**
 * Changes a custom scope. Added claims are issued once consented to; removed ones stop immediately.
 * @returns undefined when there is no such scope
 * @throws InvalidScope naming every fault, ScopeConflict
 */
export async function changeCustomScope(
  deps: RecordDeps,
  { orgId, id, content, version, actor, address }: ScopeChange,
): Promise<CustomScope | undefined> {
  return deps.database.transaction(async (tx) => {
    const before = await findCustomScope(tx, orgId, id);
    if (!before) return undefined;
    if (version !== undefined && version !== before.version) throw new ScopeConflict("changed-meanwhile");
    const scope = { ...before, ...trimmed(content), updatedAt: deps.clock(), version: before.version + 1 };
    requireValidScope(scope, before);
    if (!(await replaceCustomScope(tx, scope))) throw new ScopeConflict("changed-meanwhile");
    await recordScopeChange(tx, deps, {
      orgId,
      id,
      name: scope.name,
      actor,
      address,
      action: "scope.changed",
    });
    return scope;
  });
}

/**
 * Deletes a custom scope, and takes it from every application. What was granted before no longer counts, also when a
 * scope of this name is made anew: grants name the definition (scope-definitions.ts).
 * @returns false when there is no such scope.
 * @throws ScopeConflict
 */
export async function deleteCustomScope(
  deps: RecordDeps,
  { orgId, id, version, actor, address }: Omit<ScopeChange, "content">,
): Promise<boolean> {
  return deps.database.transaction(async (tx) => {
    const scope = await findCustomScope(tx, orgId, id);
    if (!scope) return false;
    if (version !== undefined && version !== scope.version) throw new ScopeConflict("changed-meanwhile");
    // In this order: a change of an application holds the application when it looks for the scope; a new application holds
    // the scope, and is seen once that is let go.
    await lockOrganisation(tx, orgId);
    await lockApplications(tx, orgId);
    if (!(await deleteCustomScopeRow(tx, scope))) throw new ScopeConflict("changed-meanwhile");
    await withdrawScope(tx, deps, {
      orgId,
      name: scope.name,
      actor,
      ...(address === undefined ? {} : { address }),
    });
    await recordScopeChange(tx, deps, {
      orgId,
      id,
      name: scope.name,
      actor,
      address,
      action: "scope.deleted",
    });
    return true;
  });
}

function trimmed({ displayName, description, ...rest }: Partial<ScopeContent>): Partial<ScopeContent> {
  return {
    ...rest,
    ...(displayName === undefined ? {} : { displayName: displayName.trim() }),
    ...(description === undefined ? {} : { description: description.trim() }),
  };
}

const recordScopeChange = (
  tx: Db,
  deps: RecordDeps,
  { id: target, name, ...event }: Act & { action: AuditEvent["action"]; id: string; name: string },
): Promise<void> =>
  recordChange(tx, deps, "scope", { ...event, at: deps.clock(), target, details: { name } });
