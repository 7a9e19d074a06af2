/** Creates, changes and deletes trusts. */
import { newUuid } from "@signet/protocol/uuid";
import type { Db } from "../../db/open.ts";
import { findApplication } from "../applications/applications.store.ts";
import { type Act, auditFields, recordAuditEvent } from "../audit/audit.store.ts";
import { findConnection } from "../connections/connections.store.ts";
import type { CoreDeps } from "../core-deps.ts";
import { issuerOf } from "../organisations/organisation.ts";
import { lockOrganisation } from "../organisations/organisations.store.ts";
import { MAX_TRUSTS, type Trust, TrustConflict, type TrustSettings, UnknownTrustReference } from "./trust.ts";
import { deleteTrustRow, insertTrust, listTrusts, lockTrust, replaceTrust } from "./trusts.store.ts";
import { requireValidTrust } from "./validation.ts";

export interface TrustDeps extends CoreDeps {
  readonly baseUrl: string;
}

type OfTrust = Act & { readonly id: string; check?(trust: Trust): void | Promise<void> };

/** What a trust says, in the order of its record. */
const members =
  "kind clientId issuer jwks jwksUri audience subjectPattern claims singleUse maxLifetimeSeconds connectionId userBy enabled".split(
    " ",
  ) as ReadonlyArray<keyof TrustSettings>;

/** @throws InvalidTrust, UnknownTrustReference, TrustConflict */
export function createTrust(
  deps: TrustDeps,
  { settings: sent, ...act }: Act & { readonly settings: TrustSettings },
): Promise<Trust> {
  const own = issuerOf(deps.baseUrl, act.orgId);
  const settings = withDefault(sent, own);
  requireValidTrust(settings, own);
  return deps.database.transaction(async (tx) => {
    // Of two at once the second counts the first.
    await lockOrganisation(tx, act.orgId);
    await requireReferences(tx, act.orgId, settings);
    if ((await listTrusts(tx, act.orgId)).length >= MAX_TRUSTS) throw new TrustConflict("too-many-trusts");
    const now = deps.clock();
    const times = { createdAt: now, updatedAt: now, version: 1 };
    const trust: Trust = { ...settings, orgId: act.orgId, id: newUuid(), ...times };
    await insertTrust(tx, trust);
    const event = { action: "trust.created" as const, target: trust.id, details: detailsOf(trust) };
    await recordAuditEvent(tx, { ...auditFields(act, now), ...event });
    return trust;
  });
}

/** This issuer, said or left out, is one value. */
const withDefault = <S extends TrustSettings>(settings: S, own: string): S =>
  settings.audience === own ? { ...settings, audience: null } : settings;

const detailsOf = ({ kind, issuer, clientId, subjectPattern }: Trust) => ({
  ...{ kind, issuer },
  ...(clientId === null ? {} : { clientId }),
  ...(subjectPattern === null ? {} : { subjectPattern }),
});

async function requireReferences(
  tx: Db,
  orgId: string,
  { clientId, connectionId }: TrustSettings,
): Promise<void> {
  const application = clientId === null ? undefined : await findApplication(tx, orgId, clientId);
  if (clientId !== null && !application) throw new UnknownTrustReference("clientId");
  if (application && application.homeOrgId !== null) throw new TrustConflict("foreign-application");
  if (connectionId !== null && !(await findConnection(tx, { orgId, id: connectionId })))
    throw new UnknownTrustReference("connectionId");
}

/**
 * Does nothing when nothing changes.
 * @param change of the present settings, as they are locked
 * @returns undefined when there is none
 * @throws InvalidTrust, UnknownTrustReference, TrustConflict
 */
export function changeTrust(
  deps: TrustDeps,
  { id, change, check, ...act }: OfTrust & { readonly change: (before: Trust) => Partial<TrustSettings> },
): Promise<Trust | undefined> {
  return deps.database.transaction(async (tx) => {
    const before = await lockTrust(tx, { orgId: act.orgId, id });
    if (!before) return undefined;
    await check?.(before);
    const own = issuerOf(deps.baseUrl, act.orgId);
    const wanted = withDefault({ ...before, ...change(before) }, own);
    requireValidTrust(wanted, own);
    const changed = members.filter((name) => JSON.stringify(wanted[name]) !== JSON.stringify(before[name]));
    if (changed.length === 0) return before;
    await requireReferences(tx, act.orgId, wanted);
    const now = deps.clock();
    const trust = { ...wanted, updatedAt: now, version: before.version + 1 };
    await replaceTrust(tx, trust);
    const event = { action: "trust.changed" as const, target: id, details: { ...detailsOf(trust), changed } };
    await recordAuditEvent(tx, { ...auditFields(act, now), ...event });
    return trust;
  });
}

/** @returns false when there is none */
export function deleteTrust(deps: CoreDeps, { id, check, ...act }: OfTrust): Promise<boolean> {
  return deps.database.transaction(async (tx) => {
    const key = { orgId: act.orgId, id };
    const trust = await lockTrust(tx, key);
    if (!trust) return false;
    await check?.(trust);
    await deleteTrustRow(tx, key);
    const event = { action: "trust.deleted" as const, target: id, details: detailsOf(trust) };
    await recordAuditEvent(tx, { ...auditFields(act, deps.clock()), ...event });
    return true;
  });
}
