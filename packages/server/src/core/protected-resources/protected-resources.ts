/** Finds protected resources on the hot path; creates, changes and deletes them. */
import { newUuid } from "@signet/protocol/uuid";
import type { Db } from "../../db/open.ts";
import { lockApplication } from "../applications/applications.store.ts";
import { type Act, auditFields } from "../audit/audit.store.ts";
import { changeTrackingCache } from "../cache/record-cache.ts";
import { lockOrganisation } from "../organisations/organisations.store.ts";
import { type RecordDeps, recordChange } from "../record-changes.ts";
import type { CustomScope } from "../scopes/custom-scope.ts";
import { listCustomScopes } from "../scopes/scopes.store.ts";
import {
  InvalidResource,
  MAX_RESOURCES,
  type ProtectedResource,
  ResourceConflict,
  type ResourceFault,
  type ResourceSettings,
  type ResourceWithScopes,
  requireValidResource,
  resourceDefaults,
} from "./protected-resource.ts";
import {
  deleteResourceRow,
  findResource,
  insertResource,
  listResources,
  lockResource,
  replaceResource,
  setScopesOf,
} from "./protected-resources.store.ts";

export interface ProtectedResourceDirectory {
  /** Oldest first, disabled ones too. */
  list(orgId: string): Promise<readonly ProtectedResource[]>;
}

export function protectedResourceDirectory(deps: RecordDeps): ProtectedResourceDirectory {
  const cache = changeTrackingCache<readonly ProtectedResource[]>(deps, "protected-resource", {
    capacity: 5_000,
    load: (orgId) => listResources(deps.database.query, orgId),
  });
  return { list: async (orgId) => cache.peek(orgId, "") ?? (await cache.get(orgId, "")) ?? [] };
}

export interface ResourceDeps extends RecordDeps {
  readonly baseUrl: string;
}

const withScopes = (resource: ProtectedResource, all: readonly CustomScope[]): ResourceWithScopes => ({
  ...resource,
  scopes: all.filter(({ resourceId }) => resourceId === resource.id),
});

export async function listResourcesWithScopes(db: Db, orgId: string): Promise<ResourceWithScopes[]> {
  const scopes = await listCustomScopes(db, orgId);
  return (await listResources(db, orgId)).map((resource) => withScopes(resource, scopes));
}

export async function findResourceWithScopes(
  db: Db,
  key: Pick<ProtectedResource, "orgId" | "id">,
): Promise<ResourceWithScopes | undefined> {
  const resource = await findResource(db, key);
  return resource && withScopes(resource, await listCustomScopes(db, key.orgId));
}

export type NewResource = Pick<ResourceSettings, "identifier" | "name"> & Partial<ResourceSettings>;

/** @param scopes names of the scopes that belong to it. @throws InvalidResource naming every fault, ResourceConflict */
export function createResource(
  deps: ResourceDeps,
  { settings, scopes, ...act }: Act & { readonly settings: NewResource; readonly scopes: readonly string[] },
): Promise<ResourceWithScopes> {
  const now = deps.clock();
  const { orgId } = act;
  const resource: ProtectedResource = {
    ...{ orgId, id: newUuid(), ...resourceDefaults, ...normalised(settings) },
    ...{ createdAt: now, updatedAt: now, version: 1 },
  };
  requireValidResource(resource, deps.baseUrl);
  return deps.database.transaction(async (tx) => {
    // Of two at once the second counts the first; and no scope is taken by both.
    await lockOrganisation(tx, orgId);
    if ((await listResources(tx, orgId)).length >= MAX_RESOURCES)
      throw new InvalidResource([
        { path: "", code: "too-many", message: `an organisation has at most ${MAX_RESOURCES} resources` },
      ]);
    const { applicationId } = resource;
    const hasApplication =
      applicationId === null || (await lockApplication(tx, { orgId, id: applicationId }));
    await requireKnown(tx, resource, { scopes, hasApplication });
    if (!(await insertResource(tx, resource))) throw new ResourceConflict();
    await setScopesOf(tx, resource, scopes);
    await recordResourceChange(tx, deps, act, resource, "resource.created");
    return withScopes(resource, await listCustomScopes(tx, orgId));
  });
}

type OfResource = Act & { readonly id: string; check?(resource: ResourceWithScopes): Promise<void> | void };

export interface ResourceChange {
  readonly settings: Partial<ResourceSettings>;
  /** Undefined: as they are. */
  readonly scopes?: readonly string[] | undefined;
}

/**
 * Does nothing when nothing changes.
 * @param check of the present record, locked; throwing rolls back
 * @returns undefined when there is none
 * @throws InvalidResource, ResourceConflict
 */
export function changeResource(
  deps: ResourceDeps,
  { id, change, check, ...act }: OfResource & { readonly change: ResourceChange },
): Promise<ResourceWithScopes | undefined> {
  const key = { orgId: act.orgId, id };
  return deps.database.transaction(async (tx) => {
    await lockOrganisation(tx, key.orgId);
    // Before the resource, as the deletion of an application locks them.
    const { applicationId = null } = change.settings;
    const hasApplication =
      applicationId === null || (await lockApplication(tx, { ...key, id: applicationId }));
    const found = await lockResource(tx, key);
    if (!found) return undefined;
    const before = withScopes(found, await listCustomScopes(tx, key.orgId));
    await check?.(before);
    const scopes = change.scopes ?? before.scopes.map(({ name }) => name);
    const wanted = { ...found, ...normalised(change.settings) };
    requireValidResource(wanted, deps.baseUrl);
    const changed = changedMembers(before, wanted, scopes);
    if (changed.length === 0) return before;
    const isKept = applicationId === found.applicationId;
    await requireKnown(tx, wanted, { scopes, hasApplication: hasApplication || isKept });
    const others = (await listResources(tx, key.orgId)).filter((one) => one.id !== id);
    if (others.some(({ identifier }) => identifier === wanted.identifier)) throw new ResourceConflict();
    const after = { ...wanted, updatedAt: deps.clock(), version: found.version + 1 };
    await replaceResource(tx, after);
    await setScopesOf(tx, after, scopes);
    await recordResourceChange(tx, deps, act, after, "resource.changed", { changed });
    return withScopes(after, await listCustomScopes(tx, key.orgId));
  });
}

/** Its scopes stay, and belong to no resource. @returns false when there is none */
export function deleteResource(deps: RecordDeps, { id, check, ...act }: OfResource): Promise<boolean> {
  const key = { orgId: act.orgId, id };
  return deps.database.transaction(async (tx) => {
    await lockOrganisation(tx, key.orgId);
    const found = await lockResource(tx, key);
    if (!found) return false;
    await check?.(withScopes(found, await listCustomScopes(tx, key.orgId)));
    await setScopesOf(tx, key, []);
    await deleteResourceRow(tx, key);
    await recordResourceChange(tx, deps, act, found, "resource.deleted");
    return true;
  });
}

const normalised = <Settings extends Partial<ResourceSettings>>(settings: Settings): Settings => ({
  ...settings,
  ...(settings.name === undefined ? {} : { name: settings.name.trim() }),
  ...(settings.agentDeniedScopes === undefined
    ? {}
    : { agentDeniedScopes: [...new Set(settings.agentDeniedScopes)] }),
});

function changedMembers(
  before: ResourceWithScopes,
  wanted: ProtectedResource,
  scopes: readonly string[],
): string[] {
  const names = Object.keys(resourceDefaults).concat("identifier", "name") as Array<keyof ResourceSettings>;
  const settings = names.filter((name) => JSON.stringify(before[name]) !== JSON.stringify(wanted[name]));
  const sorted = (all: readonly string[]) => JSON.stringify([...new Set(all)].sort());
  const isSame = sorted(before.scopes.map(({ name }) => name)) === sorted(scopes);
  return isSame ? settings : [...settings, "scopes"];
}

/** What it names is the organisation's own; a scope belongs to one resource. The organisation is locked. @throws InvalidResource */
async function requireKnown(
  tx: Db,
  { orgId, id }: ProtectedResource,
  { scopes, hasApplication }: { readonly scopes: readonly string[]; readonly hasApplication: boolean },
): Promise<void> {
  const defined = await listCustomScopes(tx, orgId);
  const faults = scopes.flatMap((name, index): ResourceFault[] => {
    const scope = defined.find((one) => one.name === name);
    const path = `scopes[${index}]`;
    if (!scope) return [{ path, code: "scope-unknown", message: "names no scope of the organisation" }];
    if (scope.resourceId === null || scope.resourceId === id) return [];
    return [{ path, code: "scope-taken", message: "belongs to another resource" }];
  });
  const message = "names no application of the organisation";
  const application = hasApplication
    ? []
    : [{ path: "applicationId", code: "application" as const, message }];
  if (faults.length + application.length > 0) throw new InvalidResource([...faults, ...application]);
}

async function recordResourceChange(
  tx: Db,
  deps: RecordDeps,
  act: Act,
  { id, orgId, identifier }: ProtectedResource,
  action: "resource.created" | "resource.changed" | "resource.deleted",
  more: object = {},
): Promise<void> {
  const event = { ...auditFields(act, deps.clock()), action, target: id, details: { identifier, ...more } };
  await recordChange(tx, deps, "protected-resource", event);
  // Scopes name their resource, and an application is found by the audience of its own.
  for (const topic of ["scope", "application"] as const) await deps.changes.publish(tx, { orgId, topic });
}
