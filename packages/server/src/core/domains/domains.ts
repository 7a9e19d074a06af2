/** Adds, routes and removes domains of an organisation (connections.md §1, §4). */
import { randomSecret } from "@signet/protocol/hash";
import { newUuid } from "@signet/protocol/uuid";
import type { Db } from "../../db/open.ts";
import { type Act, auditFields, recordAuditEvent } from "../audit/audit.store.ts";
import { listBreakGlassAccounts } from "../break-glass/break-glass.store.ts";
import { lockConnection } from "../connections/connections.store.ts";
import type { CoreDeps } from "../core-deps.ts";
import { lockOrganisation } from "../organisations/organisations.store.ts";
import { type Domain, InvalidDomain, MAX_DOMAINS, validDomain } from "./domain.ts";
import { deleteDomainRow, insertDomain, listDomains, lockDomain, replaceDomain } from "./domains.store.ts";

export type DomainRoute = Pick<Domain, "connectionId" | "enforced">;

/** @throws InvalidDomain */
export function createDomain(
  deps: CoreDeps,
  { domain: name, route, ...act }: Act & { readonly domain: string; readonly route: DomainRoute },
): Promise<Domain> {
  const valid = validDomain(name);
  return deps.database.transaction(async (tx) => {
    const now = deps.clock();
    // Of two at once the second counts the first.
    await lockOrganisation(tx, act.orgId);
    if ((await listDomains(tx, act.orgId)).length >= MAX_DOMAINS) throw new InvalidDomain("too-many-domains");
    const domain: Domain = {
      ...{ orgId: act.orgId, id: newUuid(), domain: valid, ...route, token: randomSecret("") },
      ...{ state: "pending", lastError: null, missingSince: null, nextCheckAt: now },
      ...{ createdAt: now, updatedAt: now, version: 1 },
    };
    await requireRoute(tx, domain);
    if (!(await insertDomain(tx, domain))) throw new InvalidDomain("domain-taken");
    const event = { action: "domain.created" as const, target: domain.id, details: { domain: valid } };
    await recordAuditEvent(tx, { ...auditFields(act, now), ...event });
    return domain;
  });
}

/**
 * Does nothing when nothing changes.
 * @param check of the present record, locked; throwing rolls back
 * @returns undefined when there is none
 * @throws InvalidDomain
 */
export function changeDomain(
  deps: CoreDeps,
  {
    id,
    change,
    check,
    ...act
  }: Act & {
    readonly id: string;
    readonly change: Partial<DomainRoute>;
    check?(domain: Domain): Promise<void>;
  },
): Promise<Domain | undefined> {
  return deps.database.transaction(async (tx) => {
    // Break-glass administrators are granted and withdrawn under the same lock.
    await lockOrganisation(tx, act.orgId);
    const before = await lockDomain(tx, { orgId: act.orgId, id });
    if (!before) return undefined;
    await check?.(before);
    const wanted = { ...before, ...change };
    const changed = (["connectionId", "enforced"] as const).filter((name) => wanted[name] !== before[name]);
    if (changed.length === 0) return before;
    await requireRoute(tx, wanted);
    const now = deps.clock();
    const domain = { ...wanted, updatedAt: now, version: before.version + 1 };
    await replaceDomain(tx, domain);
    const details = { domain: domain.domain, changed };
    await recordAuditEvent(tx, { ...auditFields(act, now), action: "domain.changed", target: id, details });
    return domain;
  });
}

/** @returns false when there is none */
export function deleteDomain(
  deps: CoreDeps,
  { id, check, ...act }: Act & { readonly id: string; check?(domain: Domain): Promise<void> },
): Promise<boolean> {
  return deps.database.transaction(async (tx) => {
    const domain = await lockDomain(tx, { orgId: act.orgId, id });
    if (!domain) return false;
    await check?.(domain);
    await deleteDomainRow(tx, { orgId: act.orgId, id });
    const event = { action: "domain.deleted" as const, target: id, details: { domain: domain.domain } };
    await recordAuditEvent(tx, { ...auditFields(act, deps.clock()), ...event });
    return true;
  });
}

/** An enforced domain leaves people one way in: it must work, and somebody must be able to come in past it. */
async function requireRoute(tx: Db, { orgId, connectionId, enforced, state }: Domain): Promise<void> {
  // Locked, so that it isn't deleted or disabled meanwhile.
  const connection =
    connectionId === null ? undefined : await lockConnection(tx, { orgId, id: connectionId });
  if (connectionId !== null && !connection) throw new InvalidDomain("unknown-connection");
  if (connection && signsNobodyIn(connection.kind)) throw new InvalidDomain("no-sign-in");
  if (!enforced) return;
  if (state !== "proven") throw new InvalidDomain("not-proven");
  if (!connection?.enabled) throw new InvalidDomain("not-routed");
  if ((await listBreakGlassAccounts(tx, orgId)).every((account) => !account.isUsable))
    throw new InvalidDomain("no-break-glass");
}

/** SCIM provisions people, and signs nobody in. */
const signsNobodyIn = (kind: string): boolean => kind === "scim";
