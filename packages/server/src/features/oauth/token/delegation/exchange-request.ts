/** What a token exchange asks for, and by which policies it may be (RFC 8693 §2.1). */
import type { Form } from "@signet/protocol/form";
import { OAuthError } from "@signet/protocol/oauth/oauth-error";
import type { CoreDeps } from "../../../../core/core-deps.ts";
import { policiesFor } from "../../../../core/token-exchange/exchange-policies.store.ts";
import type { ExchangePolicy, RequestedTokenType } from "../../../../core/token-exchange/exchange-policy.ts";
import { type GrantRequest, refuseDetails } from "../grant.ts";

const TYPE = "urn:ietf:params:oauth:token-type:";
export const ACCESS_TOKEN = `${TYPE}access_token`;
export const ID_JAG = `${TYPE}id-jag`;

export const invalidExchange = (description: string, cause = description) =>
  new OAuthError("invalid_request", description, { cause });

/** @throws OAuthError invalid_request */
export function requestedType({ values }: Form): RequestedTokenType {
  const type = values.get("requested_token_type") ?? ACCESS_TOKEN;
  if (type === ACCESS_TOKEN) return "access_token";
  if (type === ID_JAG) return "id_jag";
  throw invalidExchange("requested_token_type is not supported");
}

export interface ExchangeRequest {
  readonly subjectToken: string;
  readonly target: string;
  /** Enabled, of this client, kind and target: at least one. */
  readonly policies: readonly ExchangePolicy[];
}

/** What is asked for, and by which policies it may be. @throws OAuthError invalid_request, invalid_target */
export async function readExchange(
  { database: { query } }: CoreDeps,
  { form, application }: GrantRequest,
  type: RequestedTokenType,
): Promise<ExchangeRequest> {
  refuseDetails(form);
  const { values, allValues } = form;
  // The client is the actor: it has authenticated, and speaks for nobody else.
  if (values.has("actor_token") || values.has("actor_token_type"))
    throw invalidExchange("actor_token is not supported: the client is the actor");
  const subjectToken = values.get("subject_token");
  if (subjectToken === undefined) throw invalidExchange("subject_token is missing");
  const accepted = type === "id_jag" ? `${TYPE}id_token` : ACCESS_TOKEN;
  if (values.get("subject_token_type") !== accepted)
    throw invalidExchange(`subject_token_type must be ${accepted}`);
  const audience = values.get("audience");
  const resources = type === "id_jag" ? [] : (allValues.get("resource") ?? [values.get("resource")]);
  const [target, ...others] = [...new Set([...resources, audience])].filter((one) => one !== undefined);
  if (target === undefined)
    throw invalidExchange(type === "id_jag" ? "audience is missing" : "resource or audience is missing");
  const which = { orgId: application.orgId, clientId: application.id, type, target };
  const policies = others.length > 0 ? [] : await policiesFor(query, which);
  if (policies.length > 0) return { subjectToken, target, policies };
  throw new OAuthError("invalid_target", "no policy lets the client have a token for this target", {
    reason: "resource-not-allowed",
  });
}

/** For the audit log. */
export const exchangeDetails = (
  policy: ExchangePolicy,
  scopes: readonly string[],
  subjectClient: string,
) => ({
  ...{
    policy: policy.id,
    subjectClient,
    target: policy.target,
    requestedTokenType: policy.requestedTokenType,
  },
  ...{ scopes, impersonation: policy.impersonation },
});
