/** Creates, changes and deletes token exchange policies. */
import { newUuid } from "@signet/protocol/uuid";
import type { Db } from "../../db/open.ts";
import { findApplication } from "../applications/applications.store.ts";
import { type Act, auditFields, recordAuditEvent } from "../audit/audit.store.ts";
import type { CoreDeps } from "../core-deps.ts";
import { issuerOf } from "../organisations/organisation.ts";
import { lockOrganisation } from "../organisations/organisations.store.ts";
import { listCustomScopes } from "../scopes/scopes.store.ts";
import {
  deletePolicyRow,
  insertPolicy,
  listPolicies,
  lockPolicy,
  replacePolicy,
} from "./exchange-policies.store.ts";
import {
  type ExchangePolicy,
  type ExchangePolicySettings,
  MAX_POLICIES,
  TooManyPolicies,
  UnknownPolicyClient,
} from "./exchange-policy.ts";
import { requireValidPolicy } from "./validation.ts";

export interface ExchangePolicyDeps extends CoreDeps {
  readonly baseUrl: string;
}

type OfPolicy = Act & { readonly id: string; check?(policy: ExchangePolicy): void | Promise<void> };

const members =
  "name clientId subjectClientIds requestedTokenType target foreignClientId scopes impersonation maxLifetimeSeconds enabled".split(
    " ",
  ) as ReadonlyArray<keyof ExchangePolicySettings>;

/** @throws InvalidExchangePolicy, UnknownPolicyClient, TooManyPolicies */
export function createExchangePolicy(
  deps: ExchangePolicyDeps,
  { settings, ...act }: Act & { readonly settings: ExchangePolicySettings },
): Promise<ExchangePolicy> {
  return deps.database.transaction(async (tx) => {
    // Of two at once the second counts the first.
    await lockOrganisation(tx, act.orgId);
    await requireUsable(tx, deps, act.orgId, settings);
    if ((await listPolicies(tx, act.orgId)).length >= MAX_POLICIES) throw new TooManyPolicies();
    const now = deps.clock();
    const times = { createdAt: now, updatedAt: now, version: 1 };
    const policy: ExchangePolicy = { ...settings, orgId: act.orgId, id: newUuid(), ...times };
    await insertPolicy(tx, policy);
    const event = {
      action: "token-exchange-policy.created",
      target: policy.id,
      details: detailsOf(policy),
    } as const;
    await recordAuditEvent(tx, { ...auditFields(act, now), ...event });
    return policy;
  });
}

const detailsOf = ({
  name,
  clientId,
  requestedTokenType,
  target,
  scopes,
  impersonation,
}: ExchangePolicy) => ({
  ...{ name, clientId, requestedTokenType, target, scopes, impersonation },
});

async function requireUsable(
  tx: Db,
  { baseUrl }: ExchangePolicyDeps,
  orgId: string,
  settings: ExchangePolicySettings,
): Promise<void> {
  const defined = (await listCustomScopes(tx, orgId)).map(({ name }) => name);
  requireValidPolicy(settings, { own: issuerOf(baseUrl, orgId), defined });
  if (!(await findApplication(tx, orgId, settings.clientId))) throw new UnknownPolicyClient("clientId");
  for (const [index, id] of settings.subjectClientIds.entries())
    if (!(await findApplication(tx, orgId, id))) throw new UnknownPolicyClient(`subjectClientIds/${index}`);
}

/**
 * Does nothing when nothing changes.
 * @param change of the present settings, as they are locked
 * @returns undefined when there is none
 * @throws InvalidExchangePolicy, UnknownPolicyClient
 */
export function changeExchangePolicy(
  deps: ExchangePolicyDeps,
  {
    id,
    change,
    check,
    ...act
  }: OfPolicy & { change(before: ExchangePolicy): Partial<ExchangePolicySettings> },
): Promise<ExchangePolicy | undefined> {
  return deps.database.transaction(async (tx) => {
    const before = await lockPolicy(tx, { orgId: act.orgId, id });
    if (!before) return undefined;
    await check?.(before);
    const wanted = { ...before, ...change(before) };
    const changed = members.filter((name) => JSON.stringify(wanted[name]) !== JSON.stringify(before[name]));
    if (changed.length === 0) return before;
    await requireUsable(tx, deps, act.orgId, wanted);
    const now = deps.clock();
    const policy = { ...wanted, updatedAt: now, version: before.version + 1 };
    await replacePolicy(tx, policy);
    const details = { ...detailsOf(policy), changed };
    const event = { action: "token-exchange-policy.changed" as const, target: id, details };
    await recordAuditEvent(tx, { ...auditFields(act, now), ...event });
    return policy;
  });
}

/** @returns false when there is none */
export function deleteExchangePolicy(deps: CoreDeps, { id, check, ...act }: OfPolicy): Promise<boolean> {
  return deps.database.transaction(async (tx) => {
    const key = { orgId: act.orgId, id };
    const policy = await lockPolicy(tx, key);
    if (!policy) return false;
    await check?.(policy);
    await deletePolicyRow(tx, key);
    const event = {
      action: "token-exchange-policy.deleted" as const,
      target: id,
      details: detailsOf(policy),
    };
    await recordAuditEvent(tx, { ...auditFields(act, deps.clock()), ...event });
    return true;
  });
}
