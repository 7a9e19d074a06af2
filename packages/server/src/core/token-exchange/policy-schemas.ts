/** A token exchange policy as members of a record, for the APIs (modern-oauth.md §6). */
import Type, { type Static, type TProperties } from "typebox";
import {
  DEFAULT_LIFETIME_SECONDS,
  type ExchangePolicy,
  type ExchangePolicySettings,
  LIFETIME_RANGE,
  MAX_POLICY_SCOPES,
  MAX_SUBJECT_CLIENTS,
  requestedTokenTypes,
} from "./exchange-policy.ts";

const [minimum, maximum] = LIFETIME_RANGE;
const clientId = (description: string) => Type.String({ maxLength: 36, description });

export const requiredPolicyMembers = {
  name: Type.String({ maxLength: 100 }),
  clientId: clientId("Who exchanges: it becomes the actor"),
  target: Type.String({
    maxLength: 2_048,
    description:
      "The `resource` or `audience` that is asked for; of `id_jag` the issuer of the other authorization server",
  }),
  scopes: Type.Array(Type.String({ maxLength: 255 }), {
    ...{ minItems: 1, maxItems: MAX_POLICY_SCOPES },
    description: "What may be asked for; of `id_jag` as the other server names it",
  }),
};

export const optionalPolicyMembers = {
  subjectClientIds: Type.Array(clientId("A client"), {
    maxItems: MAX_SUBJECT_CLIENTS,
    description: "Whose tokens; default: of any client whose token the client may introspect",
  }),
  requestedTokenType: Type.Enum([...requestedTokenTypes], { description: "Default: `access_token`" }),
  foreignClientId: Type.String({
    maxLength: 2_048,
    description: "`id_jag`: as which the client is known to the other server; default: its `client_id` here",
  }),
  impersonation: Type.Boolean({ description: "Default: false. The new token names no actor" }),
  maxLifetimeSeconds: Type.Integer({
    ...{ minimum, maximum },
    description: `Of the new token; default: ${DEFAULT_LIFETIME_SECONDS}`,
  }),
  enabled: Type.Boolean({ description: "Default: true" }),
};

const { foreignClientId, ...valued } = optionalPolicyMembers;

/** Of an answer. */
export const policyRecordMembers: TProperties = {
  id: Type.String({ format: "uuid" }),
  ...requiredPolicyMembers,
  ...valued,
  foreignClientId: Type.Union([foreignClientId, Type.Null()]),
  createdAt: Type.String({ format: "date-time" }),
};

type Members = typeof requiredPolicyMembers & typeof optionalPolicyMembers;
/** As sent; null, or left out of a new record: the default. */
export type SentPolicy = { readonly [Name in keyof Members]?: Static<Members[Name]> | null };

/** The settings that a body says. @param before what is left out stays as it was there; undefined: the default */
export function policySettings(sent: SentPolicy, before?: ExchangePolicySettings): ExchangePolicySettings {
  const pick = <Name extends keyof ExchangePolicySettings>(
    name: Name,
    unset: ExchangePolicySettings[Name],
  ): ExchangePolicySettings[Name] => {
    const value = sent[name];
    if (value === undefined && before) return before[name];
    return (value ?? unset) as ExchangePolicySettings[Name];
  };
  return {
    name: pick("name", ""),
    clientId: pick("clientId", "").toLowerCase(),
    subjectClientIds: [...new Set(pick("subjectClientIds", []).map((id) => id.toLowerCase()))],
    requestedTokenType: pick("requestedTokenType", "access_token"),
    target: pick("target", ""),
    foreignClientId: pick("foreignClientId", null),
    scopes: [...new Set(pick("scopes", []))],
    impersonation: pick("impersonation", false),
    maxLifetimeSeconds: pick("maxLifetimeSeconds", DEFAULT_LIFETIME_SECONDS),
    enabled: pick("enabled", true),
  };
}

export const policyRecord = (policy: ExchangePolicy) => ({
  ...{
    id: policy.id,
    name: policy.name,
    clientId: policy.clientId,
    subjectClientIds: policy.subjectClientIds,
  },
  ...{ requestedTokenType: policy.requestedTokenType, target: policy.target, scopes: policy.scopes },
  ...{ foreignClientId: policy.foreignClientId, impersonation: policy.impersonation },
  ...{ maxLifetimeSeconds: policy.maxLifetimeSeconds, enabled: policy.enabled },
});
