/** Deletes a connection: the users and groups that it provisioned become the organisation's own; memberships by its claims end. */
import { isUniqueViolation } from "../../db/database-errors.ts";
import type { Db } from "../../db/open.ts";
import { type Act, auditFields, recordAuditEvent } from "../audit/audit.store.ts";
import { endRoutes } from "../domains/domains.store.ts";
import { GroupConflict, MAX_GROUP_NAME } from "../groups/group.ts";
import { lockOrganisation } from "../organisations/organisations.store.ts";
import { type RecordDeps, recordChange } from "../record-changes.ts";
import type { Connection } from "./connection.ts";
import { deleteConnectionRow, lockConnection } from "./connections.store.ts";
import { requireNotEnforced } from "./enforced-domains.ts";
import {
  type ClashingGroup,
  countUsersOf,
  findClashingGroups,
  isNameUsed,
  lockGroupsOf,
  makeGroupsLocal,
  renameGroup,
} from "./released-groups.store.ts";
import { endClaimedGroups } from "./sign-in/claimed-groups.ts";
import { endUpstreamSessions } from "./sign-in/upstream-sign-ins.ts";

/**
 * A group whose name the organisation has already is given the connection's name behind its own.
 * @param check of the present record, locked; throwing rolls back
 * @returns false when there is none
 * @throws GroupConflict when a group took such a name at the same moment; InvalidConnection
 */
export function deleteConnection(
  deps: RecordDeps,
  { id, check, ...act }: Act & { readonly id: string; readonly check?: (connection: Connection) => void },
): Promise<boolean> {
  return deps.database.transaction(async (tx) => {
    // Before its domains, as whoever routes one does.
    await lockOrganisation(tx, act.orgId);
    const connection = await lockConnection(tx, { orgId: act.orgId, id });
    if (!connection) return false;
    check?.(connection);
    await requireNotEnforced(tx, connection);
    const key = { orgId: act.orgId, id };
    const users = await countUsersOf(tx, key);
    const groups = await lockGroupsOf(tx, key);
    const end = { act, reason: "connection_ended" as const, now: deps.clock() };
    const sessions = await endUpstreamSessions(tx, { orgId: act.orgId, connectionId: id }, end);
    await endClaimedGroups(tx, deps, key, { act });
    if (groups > 0) await releaseGroups(tx, deps, connection, act);
    await endRoutes(tx, key, deps.clock());
    await deleteConnectionRow(tx, key);
    const details = { name: connection.name, users, groups, ...(sessions > 0 && { sessions }) };
    const event = { ...auditFields(act, deps.clock()), action: "connection.deleted" as const, target: id };
    await recordAuditEvent(tx, { ...event, details });
    return true;
  });
}

async function releaseGroups(tx: Db, deps: RecordDeps, connection: Connection, act: Act): Promise<void> {
  const now = deps.clock();
  for (const group of await findClashingGroups(tx, connection)) {
    const name = await freeName(tx, connection, group);
    await renameGroup(tx, { orgId: act.orgId, groupId: group.id, name });
    const details = { name, changed: ["displayName"] };
    const event = { action: "group.changed" as const, target: group.id, details };
    await recordChange(tx, deps, "entitlement", { ...auditFields(act, now), ...event });
  }
  await makeGroupsLocal(tx, connection, now).catch((error: unknown) => {
    throw isUniqueViolation(error) ? new GroupConflict("changed-meanwhile") : error;
  });
}

/** `Sales` becomes `Sales (Entra ID)`, and where that is taken too, `Sales (Entra ID 2)`. */
async function freeName(tx: Db, connection: Connection, { displayName }: ClashingGroup): Promise<string> {
  for (let count = 1; ; count++) {
    const suffix = ` (${connection.name}${count === 1 ? "" : ` ${count}`})`;
    const room = MAX_GROUP_NAME - [...suffix].length;
    const name = `${[...displayName].slice(0, room).join("").trimEnd()}${suffix}`;
    if (!(await isNameUsed(tx, connection, name))) return name;
  }
}
