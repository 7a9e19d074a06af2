/** Token exchange and identity assertion policies of a file, by name, which several may have. */
import { listPolicies } from "../../token-exchange/exchange-policies.store.ts";
import {
  changeExchangePolicy,
  createExchangePolicy,
  deleteExchangePolicy,
} from "../../token-exchange/exchange-policies.ts";
import type { ExchangePolicy, ExchangePolicySettings } from "../../token-exchange/exchange-policy.ts";
import { policySettings, type SentPolicy } from "../../token-exchange/policy-schemas.ts";
import { requireValidPolicy } from "../../token-exchange/validation.ts";
import { type FileRecord, type Section, textOf, toFileRecord } from "./section.ts";

const SETS = ["scopes", "subjectClientIds"];

const settingsOf = (record: FileRecord): ExchangePolicySettings => policySettings(record as SentPolicy);

/** References stay as they were written until they are resolved. */
const normalised = (item: FileRecord): FileRecord => {
  const { clientId, subjectClientIds = [] } = item;
  return toFileRecord({ ...settingsOf({ ...item, subjectClientIds: [] }), clientId, subjectClientIds }, SETS);
};

const recordOf = (policy: ExchangePolicy): FileRecord => {
  const { name, clientId, subjectClientIds, requestedTokenType, target, foreignClientId } = policy;
  const { scopes, impersonation, maxLifetimeSeconds, enabled } = policy;
  return toFileRecord(
    {
      ...{ name, clientId, subjectClientIds, requestedTokenType, target, foreignClientId },
      ...{ scopes, impersonation, maxLifetimeSeconds, enabled },
    },
    SETS,
  );
};

export const exchangePolicySection: Section = {
  kind: "token-exchange-policy",
  isUnique: false,
  references: ["clientId", "subjectClientIds"],
  defaults: toFileRecord(policySettings({})),
  keyOf: (record) => textOf(record, "name"),
  nameOf: (record) => textOf(record, "name"),
  normalise: normalised,
  // Scopes may be defined by the same file: whether they are is looked at where it is applied.
  check: (record) => {
    const settings = settingsOf(record);
    requireValidPolicy(settings, { own: "", defined: settings.scopes });
  },
  read: async (db, orgId) =>
    (await listPolicies(db, orgId)).map((policy) => ({ id: policy.id, record: recordOf(policy) })),
  create: (deps, act, record) => createExchangePolicy(deps, { ...act, settings: settingsOf(record) }),
  change: (deps, act, id, record) =>
    changeExchangePolicy(deps, { ...act, id, change: () => settingsOf(record) }),
  remove: (deps, act, id) => deleteExchangePolicy(deps, { ...act, id }),
};
