/** A token exchange policy as form fields: read, displayed, and the rules' faults by field. */
import {
  DEFAULT_LIFETIME_SECONDS,
  type ExchangePolicy,
  type ExchangePolicySettings,
  InvalidExchangePolicy,
  type RequestedTokenType,
  requestedTokenTypes,
  TooManyPolicies,
  UnknownPolicyClient,
} from "../../../core/token-exchange/exchange-policy.ts";
import type { DurationText } from "../../../html/components/duration-input.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import type { SentForm } from "../../../page-kit/accept-form.ts";
import { readDurationText, toSeconds } from "../../../page-kit/read-fields.ts";
import { displayLifetime, lifetimeText, yesOrNo } from "../plain-records/fields.ts";
import { faultsByField, wordsOf } from "../plain-records/plain-record.ts";

export interface PolicyInput {
  readonly requestedTokenType: RequestedTokenType;
  readonly name: string;
  readonly clientId: string;
  /** Client IDs, one a line. */
  readonly subjectClientIds: string;
  readonly target: string;
  readonly foreignClientId: string;
  /** Of another server, in words; of this one, ticked. */
  readonly scopes: readonly string[];
  readonly impersonation: boolean;
  readonly maxLifetimeSeconds: DurationText;
  readonly enabled: boolean;
}

export const emptyPolicy = (requestedTokenType: RequestedTokenType): PolicyInput => ({
  ...{ requestedTokenType, name: "", clientId: "", subjectClientIds: "", target: "", foreignClientId: "" },
  ...{ scopes: [], impersonation: false, maxLifetimeSeconds: lifetimeText(DEFAULT_LIFETIME_SECONDS) },
  enabled: true,
});

export const toPolicyInput = (policy: ExchangePolicy): PolicyInput => ({
  ...{ requestedTokenType: policy.requestedTokenType, name: policy.name, clientId: policy.clientId },
  ...{ subjectClientIds: policy.subjectClientIds.join("\n"), target: policy.target },
  ...{ foreignClientId: policy.foreignClientId ?? "", scopes: policy.scopes },
  ...{ impersonation: policy.impersonation, enabled: policy.enabled },
  maxLifetimeSeconds: lifetimeText(policy.maxLifetimeSeconds),
});

/** @param before of a record, whose type the page does not change */
export function readPolicyInput(
  { values, all, ...form }: SentForm,
  before: ExchangePolicy | undefined,
): PolicyInput {
  const text = (id: string, max = 2_100) => (values.get(id) ?? "").trim().slice(0, max);
  const requestedTokenType =
    before?.requestedTokenType ??
    requestedTokenTypes.find((one) => one === values.get("requestedTokenType")) ??
    "access_token";
  const isOurs = requestedTokenType === "access_token";
  return {
    ...{ requestedTokenType, name: text("name", 200), clientId: text("clientId", 40) },
    ...{ subjectClientIds: text("subjectClientIds", 8_000), target: text("target") },
    foreignClientId: isOurs ? "" : text("foreignClientId"),
    scopes: isOurs ? all("scopes") : wordsOf(text("scopes", 30_000)),
    ...{
      impersonation: isOurs && values.get("impersonation") === "on",
      enabled: values.get("enabled") === "on",
    },
    // An assertion lives as long as the profile says.
    maxLifetimeSeconds: isOurs
      ? readDurationText({ ...form, values }, "maxLifetimeSeconds")
      : lifetimeText(before?.maxLifetimeSeconds ?? DEFAULT_LIFETIME_SECONDS),
  };
}

export const displayPolicy = (input: PolicyInput, messages: Messages): Record<string, string> => ({
  ...{ name: input.name, clientId: input.clientId, subjectClientIds: input.subjectClientIds },
  ...{ target: input.target, foreignClientId: input.foreignClientId, scopes: input.scopes.join(" ") },
  ...{ impersonation: yesOrNo(input.impersonation, messages), enabled: yesOrNo(input.enabled, messages) },
  maxLifetimeSeconds: displayLifetime(input.maxLifetimeSeconds, messages),
});

/** The rules validate it. */
export const toPolicySettings = (input: PolicyInput): ExchangePolicySettings => ({
  ...{ requestedTokenType: input.requestedTokenType, name: input.name.trim() },
  ...{ clientId: input.clientId.toLowerCase(), target: input.target, enabled: input.enabled },
  subjectClientIds: wordsOf(input.subjectClientIds.toLowerCase()),
  foreignClientId: input.foreignClientId === "" ? null : input.foreignClientId,
  ...{ scopes: [...new Set(input.scopes)], impersonation: input.impersonation },
  maxLifetimeSeconds: toSeconds(input.maxLifetimeSeconds) ?? 0,
});

/** @throws what is not about what was typed */
export function policyFaults(error: unknown, { console }: Messages): Record<string, string> {
  const { faults: texts } = console.tokenExchange;
  if (error instanceof TooManyPolicies) return { name: texts.tooMany };
  if (error instanceof UnknownPolicyClient) return faultsByField([{ path: error.member }], texts);
  if (error instanceof InvalidExchangePolicy) return faultsByField(error.faults, texts);
  throw error;
}
