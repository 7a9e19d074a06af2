/** Validates a token exchange policy. Reports all faults together, each with its member. */
import { parseScope } from "@signet/protocol/oauth/scope";
import { isRecordName } from "../organisations/organisation.ts";
import { isApiScope, isOperatorScope } from "../scopes/api-scopes.ts";
import { isSignalScope, standardScopes } from "../scopes/scopes.ts";
import {
  type ExchangePolicySettings,
  InvalidExchangePolicy,
  LIFETIME_RANGE,
  MAX_POLICY_SCOPES,
  MAX_SUBJECT_CLIENTS,
  type PolicyFault,
  requestedTokenTypes,
} from "./exchange-policy.ts";

/**
 * @param own the organisation's issuer
 * @param defined names of its custom scopes
 * @throws InvalidExchangePolicy naming every fault
 */
export function requireValidPolicy(
  settings: ExchangePolicySettings,
  { own, defined }: { readonly own: string; readonly defined: readonly string[] },
): void {
  const { name, target, requestedTokenType: type, subjectClientIds, maxLifetimeSeconds } = settings;
  const [min, max] = LIFETIME_RANGE;
  const isTarget = /^[\x21-\x7e]{1,2048}$/.test(target) && !target.includes("#");
  const faults = [
    ...requireThat(isRecordName(name), "name", "must be 1 to 100 characters without control characters"),
    ...requireThat(
      requestedTokenTypes.includes(type),
      "requestedTokenType",
      `must be one of ${requestedTokenTypes.join(", ")}`,
    ),
    ...requireThat(
      subjectClientIds.length <= MAX_SUBJECT_CLIENTS,
      "subjectClientIds",
      `are at most ${MAX_SUBJECT_CLIENTS}`,
    ),
    ...requireThat(isTarget, "target", "must be 1 to 2048 printable characters without spaces and fragment"),
    ...requireThat(
      Number.isInteger(maxLifetimeSeconds) && maxLifetimeSeconds >= min && maxLifetimeSeconds <= max,
      "maxLifetimeSeconds",
      `must be an integer from ${min} to ${max}`,
    ),
    ...scopeFaults(settings, defined),
    ...typeFaults(settings, own),
  ];
  if (faults.length > 0) throw new InvalidExchangePolicy(faults);
}

const requireThat = (isFine: boolean, path: string, message: string): PolicyFault[] =>
  isFine ? [] : [{ path, message }];

function scopeFaults(
  { scopes, requestedTokenType: type }: ExchangePolicySettings,
  defined: readonly string[],
): PolicyFault[] {
  if (scopes.length === 0 || scopes.length > MAX_POLICY_SCOPES)
    return [{ path: "scopes", message: `must be 1 to ${MAX_POLICY_SCOPES} scopes` }];
  return scopes.flatMap((scope, index) => {
    const path = `scopes[${index}]`;
    if (parseScope(scope)?.length !== 1 || scope.includes(" "))
      return [{ path, message: "is not a scope token (RFC 6749 §3.3)" }];
    // A scope of another issuer means what that issuer says.
    if (type === "id_jag" || defined.includes(scope)) return [];
    if (isApiScope(scope) || isOperatorScope(scope) || isSignalScope(scope) || scope === "offline_access")
      return [{ path, message: `${scope} is never given in exchange for a token` }];
    const isStandard = standardScopes.some((one) => one === scope);
    return requireThat(isStandard, path, `${scope} is not a scope of the organisation: define it first`);
  });
}

function typeFaults(
  { requestedTokenType: type, target, foreignClientId, impersonation }: ExchangePolicySettings,
  own: string,
): PolicyFault[] {
  if (type === "access_token")
    return requireThat(foreignClientId === null, "foreignClientId", "is for id_jag alone");
  const isIssuer = URL.canParse(target) && target !== own;
  return [
    ...requireThat(isIssuer, "target", "must be the issuer of another authorization server"),
    ...requireThat(!impersonation, "impersonation", "is for access_token alone"),
    ...requireThat(
      foreignClientId === null || /^[\x21-\x7e]{1,2048}$/.test(foreignClientId),
      "foreignClientId",
      "must be 1 to 2048 printable characters without spaces",
    ),
  ];
}
