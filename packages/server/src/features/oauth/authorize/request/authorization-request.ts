/**
 * Parses an authorization request (RFC 6749 §4.1.1, OpenID Connect Core §3.1.2.1) in two steps: first the client and its
 * redirect URI, whose errors are shown on a page; then the other parameters, whose errors go to the client.
 */
import { type Form, requireSingle } from "@signet/protocol/form";
import type { ResponseMode } from "@signet/protocol/oauth/authorization-response";
import { OAuthError } from "@signet/protocol/oauth/oauth-error";
import { isS256Challenge } from "@signet/protocol/oauth/pkce";
import { matchRedirectUri } from "@signet/protocol/oauth/redirect-uri";
import { parseScope } from "@signet/protocol/oauth/scope";
import type { Application, ApplicationSettings } from "../../../../core/applications/application.ts";
import { signsMessages } from "../../../../core/applications/security-profile.ts";
import { noteCaller } from "../../../../core/audit/audited-request.ts";
import type { AuthorizationDetail } from "../../../../core/authorization-details/detail-type.ts";
import {
  readDetails,
  targetsOfDetails,
  usableTypes,
} from "../../../../core/authorization-details/details.ts";
import {
  type AccessRules,
  nameableBy,
  resolveAccess,
  tokenResource,
} from "../../../../core/protected-resources/asked-access.ts";
import type { RefusalReason } from "../../../../core/refused-requests/refused-request.ts";
import type { RefusedRequests } from "../../../../core/refused-requests/refused-requests.ts";
import type { RequestedClaims } from "../../../../core/scopes/requested-claims.ts";
import { grantableScopes } from "../../../../core/scopes/scopes.ts";
import { findNamedClient, type NamedClientDeps } from "../../client-authentication/named-client.ts";
import { requestedResources } from "../../token/grant.ts";
import { unsignedResponseMode } from "./request-object.ts";
import { type RequestedAcr, readRequestedAcr } from "./requested-acr.ts";
import { parseRequestedClaims } from "./requested-claims.ts";

/** Unknown parameters are ignored (RFC 6749 §3.1). */
export const requestParameters: ReadonlySet<string> = new Set([
  "response_type",
  "client_id",
  "redirect_uri",
  "response_mode",
  "scope",
  "state",
  "nonce",
  "code_challenge",
  "code_challenge_method",
  "dpop_jkt",
  "prompt",
  "max_age",
  "acr_values",
  "claims",
  "login_hint",
  "id_token_hint",
  "ui_locales",
  "resource",
  "authorization_details",
  "request",
  "request_uri",
]);

/** Where the response goes: verified. */
export interface AnswerTarget extends RequestedMode {
  readonly application: Application;
  readonly redirectUri: string;
  /** SHA-256 of the request_uri of a pushed request: the response uses it up. */
  readonly pushed?: string | undefined;
  readonly state: string | undefined;
}

export interface RequestedMode {
  readonly responseMode: ResponseMode;
  /** The response is one signed JWT (JARM). */
  readonly isJwt: boolean;
}

export type Prompt = "none" | "login" | "consent" | "select_account" | "create";

/** What an application or a page of this server requires of a sign-in. */
export interface SignInRequest {
  readonly prompts: readonly Prompt[];
  readonly maxAgeSeconds: number | undefined;
  readonly acr: RequestedAcr;
  readonly loginHint: string | undefined;
  readonly idTokenHint: string | undefined;
  readonly uiLocales: string | undefined;
}

export interface AuthorizationRequest extends AnswerTarget, SignInRequest {
  readonly scopes: readonly string[];
  readonly resources: readonly string[];
  /** RFC 9396; of types that the client may ask for, as their schemas want them. */
  readonly authorizationDetails: readonly AuthorizationDetail[];
  readonly codeChallenge: string | null;
  /** The thumbprint of the key that alone may redeem the code (RFC 9449 §10). */
  readonly dpopJkt: string | null;
  readonly nonce: string | null;
  /** As requested; see requested-access.ts for those that are supported. */
  readonly requestedClaims: RequestedClaims;
}

/**
 * @param from whoever asks
 * @param refusals where it is the application's own request, which its developer hears of
 * @throws OAuthError shown on a page: there is no verified redirect URI
 */
export async function readTarget(
  deps: NamedClientDeps,
  orgId: string,
  form: Form,
  from: Parameters<typeof findNamedClient>[3],
  refusals?: Pick<RefusedRequests, "note">,
): Promise<AnswerTarget> {
  requireSingle(form, ["client_id", "redirect_uri"]);
  const application = await readClient(deps, orgId, form, from);
  const redirectUri = form.values.get("redirect_uri");
  const refused = (reason: RefusalReason, description: string) => {
    const error = pageError(reason, description);
    refusals?.note(application, "authorize", error);
    return error;
  };
  if (redirectUri === undefined) refuseTwoRequests(form.values);
  if (redirectUri === undefined && form.values.has("request_uri")) throw requestUriNotSupported();
  if (redirectUri === undefined)
    throw refused("redirect-uri-missing", "The redirect_uri parameter is missing.");
  if (!matchRedirectUri(redirectUri, application.settings.redirectUris, application.clientType))
    throw refused("redirect-uri-unregistered", "The redirect_uri is not registered for this application.");
  return { application, redirectUri, ...requestedMode(application, form), state: form.values.get("state") };
}

/** @throws OAuthError shown on a page */
export async function readClient(
  deps: NamedClientDeps,
  orgId: string,
  form: Form,
  from: Parameters<typeof findNamedClient>[3],
): Promise<Application> {
  const clientId = form.values.get("client_id");
  if (clientId === undefined) throw pageError("client-id-missing", "The client_id parameter is missing.");
  const application = await findNamedClient(deps, orgId, clientId, from);
  if (typeof application === "string")
    throw pageError("client-unknown", "The client_id is unknown.", application);
  noteCaller(orgId, application.id);
  return application;
}

/** The default is `query`, for a mode that is not supported too: its refusal has to go somewhere. */
export function requestedMode({ settings }: Application, { values }: Form): RequestedMode {
  const text = values.get("response_mode") ?? unsignedResponseMode(values.get("request"));
  const plain = text?.replace(/(?:^|\.)jwt$/, "");
  const responseMode = plain === "fragment" || plain === "form_post" ? plain : "query";
  return { responseMode, isJwt: signsMessages(settings) || plain !== text };
}

/**
 * @throws OAuthError for the client
 */
export function readAuthorizationRequest(
  target: AnswerTarget,
  form: Form,
  rules: AccessRules,
): AuthorizationRequest {
  requireSingle(form);
  const { values } = form;
  refuseUnsupported(target, values);
  const { settings } = target.application;
  const requestedClaims = parseRequestedClaims(values.get("claims"));
  const usable = usableTypes(target.application, rules.detailTypes);
  const details = readDetails(values.get("authorization_details"), usable);
  const nameable = nameableBy(target.application, rules);
  const named = requestedResources(form, nameable);
  const { scopes, resources } = resolveAccess(
    {
      scopes: readScopes(values.get("scope"), settings.allowedScopes),
      resources: targetsOfDetails(details, usable, { named, nameable }),
    },
    target.application,
    rules,
  );
  // Agents sign the token before its code is issued: what they cannot sign is refused before anybody is asked.
  if (settings.signingPoolId !== undefined) tokenResource({ scopes, resources }, target.application, rules);
  const nonce = bounded(values, "nonce", 512) ?? null;
  return {
    ...target,
    scopes,
    resources,
    authorizationDetails: details,
    codeChallenge: readChallenge(values, settings, { scopes, nonce }),
    dpopJkt: readThumbprint(values.get("dpop_jkt")),
    nonce,
    requestedClaims,
    prompts: readPrompts(values.get("prompt")),
    maxAgeSeconds: readMaxAge(values.get("max_age")),
    acr: readRequestedAcr(values.get("acr_values"), requestedClaims, target.application.settings),
    loginHint: values.get("login_hint")?.slice(0, 254),
    idTokenHint: values.get("id_token_hint"),
    uiLocales: values.get("ui_locales")?.slice(0, 200),
  };
}

const requestUriNotSupported = () =>
  new OAuthError("request_uri_not_supported", "request_uri is not supported", { reason: "request-object" });

const pageError = (reason: string, description: string, cause?: string) =>
  new OAuthError("invalid_request", description, { reason, ...(cause === undefined ? {} : { cause }) });

const invalid = (description: string, reason?: RefusalReason) =>
  new OAuthError("invalid_request", description, reason === undefined ? {} : { reason });

const plainModes: readonly string[] = ["query", "fragment", "form_post"];
/** JARM §2.3; `jwt` is the default of the response type. */
const jwtModes: readonly string[] = ["jwt", "query.jwt", "fragment.jwt", "form_post.jwt"];
export const responseModes = [...plainModes, ...jwtModes];

/** RFC 9101 §5. */
function refuseTwoRequests(values: Form["values"]): void {
  if (values.has("request") && values.has("request_uri"))
    throw invalid("request and request_uri cannot be combined");
}

function refuseUnsupported({ application }: AnswerTarget, values: Form["values"]): void {
  const mode = values.get("response_mode");
  if (mode !== undefined && !responseModes.includes(mode)) throw invalid("response_mode is not supported");
  // FAPI 2.0 Message Signing §5.4.2.
  if (mode !== undefined && signsMessages(application.settings) && !jwtModes.includes(mode))
    throw invalid("response_mode must be one of JARM");
  refuseTwoRequests(values);
  if (values.has("request"))
    throw new OAuthError("request_not_supported", "request objects are not supported", {
      reason: "request-object",
    });
  if (values.has("request_uri")) throw requestUriNotSupported();
  const type = values.get("response_type");
  if (type === undefined) throw invalid("response_type is missing", "response-type");
  if (type !== "code")
    throw new OAuthError("unsupported_response_type", "the only response_type is code", {
      reason: "response-type",
    });
  if (!application.settings.grantTypes.includes("authorization_code")) {
    throw new OAuthError("unauthorized_client", "the client may not use the authorization code grant", {
      reason: "grant-not-allowed",
    });
  }
  if ((values.get("state")?.length ?? 0) > 4_096) throw invalid("state is too long");
}

/** The default scope is `openid` (RFC 6749 §3.3). */
export function readScopes(text: string | undefined, allowed: readonly string[]): string[] {
  const requested = text === undefined ? ["openid"] : parseScope(text);
  if (!requested) throw new OAuthError("invalid_scope", "scope is malformed", { reason: "scope-malformed" });
  const granted = grantableScopes(requested, allowed);
  if (granted.length === 0)
    throw new OAuthError("invalid_scope", "none of the scopes may be granted to this client", {
      reason: "scope-not-allowed",
    });
  return granted;
}

/** RFC 7636, S256 only: with `plain` anyone who sees the request has the verifier. */
function readChallenge(
  values: Form["values"],
  { requirePkce, requireNonceWithoutPkce }: ApplicationSettings,
  sent: { readonly scopes: readonly string[]; readonly nonce: string | null },
): string | null {
  const challenge = values.get("code_challenge");
  const method = values.get("code_challenge_method");
  if (challenge === undefined) {
    if (requirePkce) throw invalid("code_challenge is missing (PKCE is required)", "pkce-required");
    if (method !== undefined) throw invalid("code_challenge_method requires code_challenge");
    // Only an ID token carries the nonce back.
    if (requireNonceWithoutPkce && (!sent.nonce || !sent.scopes.includes("openid")))
      throw invalid(
        "send code_challenge (PKCE), or nonce with the scope openid: one of them is required",
        "nonce-required",
      );
    return null;
  }
  // The default method of RFC 7636 is plain.
  if (method !== "S256") throw invalid("code_challenge_method must be S256", "pkce-method");
  if (!isS256Challenge(challenge)) throw invalid("code_challenge is malformed");
  return challenge;
}

function readThumbprint(text: string | undefined): string | null {
  if (text === undefined) return null;
  if (!/^[A-Za-z0-9_-]{43}$/.test(text)) throw invalid("dpop_jkt is not the thumbprint of a key");
  return text;
}

function readPrompts(text: string | undefined): Prompt[] {
  const known: readonly string[] = ["none", "login", "consent", "select_account", "create"];
  const prompts = [...new Set((text ?? "").split(" ").filter((prompt) => prompt !== ""))];
  if (prompts.some((prompt) => !known.includes(prompt))) throw invalid("prompt has an unknown value");
  if (prompts.includes("none") && prompts.length > 1)
    throw invalid("prompt=none can't be combined with other values");
  return prompts as Prompt[];
}

function readMaxAge(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^\d{1,9}$/.test(text)) throw invalid("max_age must be a number of seconds");
  return Number(text);
}

function bounded(values: Form["values"], name: string, maxLength: number): string | undefined {
  const value = values.get(name);
  if (value !== undefined && value.length > maxLength) throw invalid(`${name} is too long`);
  return value;
}
