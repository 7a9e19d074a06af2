/** Client-initiated backchannel authentication (OpenID CIBA Core 1.0, poll mode): a user whom the program names decides elsewhere. */
import { decodeJwt } from "jose";
import { configurationError, SignetError } from "../errors.ts";
import { type HttpAnswer, providerError } from "../provider/http.ts";
import { isRecord } from "../tokens/claims.ts";
import { type GrantConfiguration, type GrantOptions, grantSettings } from "./grant-settings.ts";
import { postAsClient } from "./oauth-client.ts";
import {
  type PollingOptions,
  parsePending,
  pollTokens,
  type UserTokens,
  verifyUserTokens,
} from "./polled-tokens.ts";

/** Options of `backchannelAuthenticate`: who is asked (exactly one hint), and for what. */
export interface BackchannelOptions extends GrantOptions, PollingOptions {
  /** The user's email address, or what else the provider knows them by. */
  readonly loginHint?: string;
  /** An ID token that the provider gave this client for the user; the tokens are then this user's or refused. */
  readonly idTokenHint?: string;
  /** Shown to the user, and by the program, so that both see the same transaction: plain text, with Signet at most 100 characters. */
  readonly bindingMessage?: string;
  /** Authentication context class references, separated by spaces. */
  readonly acrValues?: string;
  /** How long the user may take, in seconds. Default: the provider's. */
  readonly requestedExpiry?: number;
  /** What exactly is asked for (RFC 9396). */
  readonly authorizationDetails?: ReadonlyArray<
    Readonly<Record<string, unknown>> & { readonly type: string }
  >;
  /** The provider has taken the request and asks the user; awaited. */
  readonly onRequested?: (request: BackchannelRequest) => void | Promise<void>;
}

/** A request that the user has not answered yet. */
export interface BackchannelRequest {
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

/**
 * Asks a user for their approval on a device of theirs, and polls until they have responded.
 * @param configuration of a confidential client, with `openid` in `oauthScopes`
 * @throws SignetError `provider_refused` with `oauthError` `access_denied` (the user declined), `expired_token` (no response in
 *   time), `unknown_user_id`, `invalid_binding_message` or another of the provider's, other `provider_…`, `token_subject` for tokens
 *   of another user than `idTokenHint` names, other `token_…` for an invalid ID token, `configuration`
 * @example
 * const tokens = await backchannelAuthenticate(configuration, {
 *   loginHint: "nina@northwind.example",
 *   bindingMessage: "Payment W4SCT",
 *   signal: AbortSignal.timeout(60_000),
 * });
 */
export async function backchannelAuthenticate(
  configuration: GrantConfiguration,
  options: BackchannelOptions,
): Promise<UserTokens> {
  const grant = grantSettings(configuration, options);
  requireBackchannelClient(grant, options);
  options.signal?.throwIfAborted();
  const now = grant.clock();
  const response = await postAsClient(grant, "backchannel_authentication_endpoint", {
    ...{ scope: grant.scope, resource: grant.resource },
    ...requestForm(options),
  });
  const { authReqId, ...pending } = parseRequest(response, now);
  await options.onRequested?.({ expiresAt: pending.expiresAt });
  const form = { grant_type: "urn:openid:params:grant-type:ciba", auth_req_id: authReqId };
  const tokens = await verifyUserTokens(grant, await pollTokens(grant, form, pending, options));
  requireHintedUser(tokens, options);
  return tokens;
}

/** @throws SignetError `configuration` */
function requireBackchannelClient(
  { settings, scope = "", authentication }: ReturnType<typeof grantSettings>,
  { loginHint, idTokenHint }: BackchannelOptions,
): void {
  if ((settings.securityProfile ?? "none") !== "none")
    throw configurationError("Backchannel authentication is not for clients with a securityProfile.");
  // CIBA Core §7.1: the client authenticates, and it is about who the user is.
  if (authentication.method === "none")
    throw configurationError("Backchannel authentication needs a client that authenticates.");
  if (!scope.split(" ").includes("openid"))
    throw configurationError("Backchannel authentication needs openid in oauthScopes.");
  if ((loginHint === undefined) === (idTokenHint === undefined))
    throw configurationError("Backchannel authentication needs loginHint or idTokenHint, and not both.");
}

const requestForm = (options: BackchannelOptions): Readonly<Record<string, string | undefined>> => ({
  login_hint: options.loginHint,
  id_token_hint: options.idTokenHint,
  binding_message: options.bindingMessage,
  acr_values: options.acrValues,
  requested_expiry: options.requestedExpiry?.toString(),
  authorization_details: options.authorizationDetails && JSON.stringify(options.authorizationDetails),
});

/** CIBA Core §7.3. @param now milliseconds, taken before the request */
function parseRequest(response: HttpAnswer, now: number) {
  if (response.status !== 200) throw providerError(response, "the backchannel authentication endpoint");
  const body = isRecord(response.body) ? response.body : {};
  const { auth_req_id: authReqId } = body;
  if (typeof authReqId !== "string" || authReqId === "")
    throw new SignetError("provider_answer", "The backchannel authentication response has no auth_req_id.");
  return { authReqId, ...parsePending(body, now, "backchannel authentication") };
}

/** Who was asked for is who has answered. @throws SignetError `token_subject`, `token_claim_missing` */
function requireHintedUser({ claims }: UserTokens, { idTokenHint }: BackchannelOptions): void {
  if (claims === undefined)
    throw new SignetError("token_claim_missing", "The tokens say nothing of the user: there is no ID token.");
  if (idTokenHint !== undefined && decodeJwt(idTokenHint).sub !== claims.sub)
    throw new SignetError("token_subject", "The tokens are of another user than idTokenHint names.");
}
