/** Makes, changes and ends the groups of a connection, with their members. */
import { fault, type Resource, ScimFault } from "@signet/protocol/scim/attribute";
import type { MembersChange } from "@signet/protocol/scim/members-change";
import { holdConnection } from "../connections/connections.store.ts";
import type { MemberRef } from "../groups/group-members.store.ts";
import { changeMembers, MAX_CHANGES } from "../groups/group-members.ts";
import { lockGroup } from "../groups/groups.store.ts";
import { changeGroup, createGroup, deleteGroup } from "../groups/groups.ts";
import { lockOrganisation } from "../organisations/organisations.store.ts";
import { actOf, inTransaction, type ProvisionDeps, type Provisioning } from "./provision-transaction.ts";
import { findGroupClash, findScimGroup, type ScimGroupRow } from "./scim-groups.store.ts";
import { findDirectMembers, findMemberTypes } from "./scim-members.store.ts";

const IDENTIFIERS = "displayName or externalId";

/** As reading a resource bounds it, too. */
const MAX_MEMBERS = 100_000;

const whereOf = ({ connection: { orgId, id } }: Provisioning) => ({ orgId, connectionId: id });
const groupActOf = (by: Provisioning) => ({ ...actOf(by), connectionId: by.connection.id });

/** @param resource without members. @throws ScimFault */
export function createScimGroup(
  deps: ProvisionDeps,
  by: Provisioning,
  { resource, members }: { readonly resource: Resource; readonly members: readonly string[] },
): Promise<ScimGroupRow> {
  return inTransaction(deps, IDENTIFIERS, async (inside) => {
    // Of a connection that goes at this moment, no group would stay behind.
    if (!(await holdConnection(inside.database.query, by.connection))) throw noSuchConnection();
    const types = await lockForMembers(inside, by, members);
    const content = contentOf(resource);
    await requireUnique(inside, by, { id: undefined, ...content });
    const act = groupActOf(by);
    const { id } = await createGroup(inside, {
      ...act,
      source: "scim",
      content: { ...content, description: null },
    });
    const change = { replaces: false, add: new Set(members), remove: new Set<string>() };
    await writeMembers(inside, by, { id, types, change });
    return requireGroup(inside, by, id);
  });
}

export interface ScimGroupChange {
  readonly id: string;
  /** Who may come in; undefined: who does is known only once the group is locked. */
  readonly added: readonly string[] | undefined;
  /** Of the group as it is now, locked. Throwing rolls everything back. */
  change(
    row: ScimGroupRow,
    inside: ProvisionDeps,
  ): Promise<{ readonly resource: Resource; readonly members: MembersChange }>;
}

/** @throws ScimFault; 404 for a group of anybody else */
export function changeScimGroup(
  deps: ProvisionDeps,
  by: Provisioning,
  { id, added, change }: ScimGroupChange,
): Promise<ScimGroupRow> {
  return inTransaction(deps, IDENTIFIERS, async (inside) => {
    const tx = inside.database.query;
    await requireGroup(inside, by, id);
    let types = await lockForMembers(inside, by, added);
    await lockGroup(tx, { orgId: by.connection.orgId, id });
    const { resource, members } = await change(await requireGroup(inside, by, id), inside);
    if (added === undefined) types = await typesOf(inside, by, [...members.add]);
    const content = contentOf(resource);
    await requireUnique(inside, by, { id, ...content });
    await changeGroup(inside, { ...groupActOf(by), id, content });
    await writeMembers(inside, by, { id, types, change: members });
    return requireGroup(inside, by, id);
  });
}

/** @throws ScimFault */
export function deleteScimGroup(
  deps: ProvisionDeps,
  by: Provisioning,
  { id, check }: { readonly id: string; readonly check: (row: ScimGroupRow) => void },
): Promise<void> {
  return inTransaction(deps, IDENTIFIERS, async (inside) => {
    await requireGroup(inside, by, id);
    const checked = async () => check(await requireGroup(inside, by, id));
    if (!(await deleteGroup(inside, { ...groupActOf(by), id, check: checked }))) throw noSuchGroup();
  });
}

const noSuchConnection = () => new ScimFault(404, undefined, "The connection was deleted.");
const noSuchGroup = () => new ScimFault(404, undefined, "There is no such group.");

async function requireGroup(inside: ProvisionDeps, by: Provisioning, id: string): Promise<ScimGroupRow> {
  const row = await findScimGroup(inside.database.query, whereOf(by), id);
  if (!row) throw noSuchGroup();
  return row;
}

const contentOf = ({ displayName, externalId }: Resource) => ({
  displayName: String(displayName),
  externalId: typeof externalId === "string" && externalId !== "" ? externalId : null,
});

async function requireUnique(
  { database: { query } }: ProvisionDeps,
  by: Provisioning,
  wanted: Parameters<typeof findGroupClash>[2],
): Promise<void> {
  const clash = await findGroupClash(query, whereOf(by), wanted);
  if (clash) throw fault("uniqueness", `Another group has this ${clash}.`);
}

type Types = Awaited<ReturnType<typeof findMemberTypes>>;

/** @throws ScimFault for an id that the connection does not see */
async function typesOf(inside: ProvisionDeps, by: Provisioning, ids: readonly string[]): Promise<Types> {
  const types = await findMemberTypes(inside.database.query, whereOf(by), ids);
  const unknown = ids.find((id) => !types.has(id));
  if (unknown !== undefined)
    throw fault("invalidValue", `There is no user and no group with the id ${unknown.slice(0, 100)}.`);
  return types;
}

/** Nestings lock the organisation, and that before the group (group-members.ts). @param ids undefined: some may be groups */
async function lockForMembers(
  inside: ProvisionDeps,
  by: Provisioning,
  ids: readonly string[] | undefined,
): Promise<Types> {
  const types = ids === undefined ? undefined : await typesOf(inside, by, ids);
  const isNesting = types === undefined || [...types.values()].includes("group");
  if (isNesting) await lockOrganisation(inside.database.query, by.connection.orgId);
  return types ?? new Map();
}

interface MembersWritten {
  readonly id: string;
  /** Of whom the change adds. */
  readonly types: Types;
  readonly change: MembersChange;
}

async function writeMembers(
  inside: ProvisionDeps,
  by: Provisioning,
  { id, types, change: { replaces, add, remove } }: MembersWritten,
): Promise<void> {
  const group = { orgId: by.connection.orgId, groupId: id };
  const tx = inside.database.query;
  const present = await findDirectMembers(tx, group, replaces ? undefined : [...add, ...remove]);
  const presentIds = new Set(present.map((one) => one.id));
  const leaving = present.filter((one) => (replaces ? !add.has(one.id) : remove.has(one.id)));
  const coming = [...add].filter((one) => !presentIds.has(one));
  const members: MemberRef[] = coming.map((one) => ({ type: types.get(one) ?? "user", id: one }));
  const act = { ...groupActOf(by), id };
  for (const some of pages(leaving)) await changeMembers(inside, { ...act, add: [], remove: some });
  for (const some of pages(members)) await changeMembers(inside, { ...act, add: some, remove: [] });
  if (members.length === 0) return;
  const after = await requireGroup(inside, by, id);
  if (after.memberCount > MAX_MEMBERS)
    throw fault("invalidValue", `A group has at most ${MAX_MEMBERS} members.`);
}

function* pages(members: readonly MemberRef[]): Generator<readonly MemberRef[]> {
  for (let at = 0; at < members.length; at += MAX_CHANGES) yield members.slice(at, at + MAX_CHANGES);
}
