/**
 * What every grant provides to the phases of the token request, and the scopes and resources that a grant may give
 * (RFC 6749 §3.3, RFC 8707).
 */

import type { Form } from "@signet/protocol/form";
import { OAuthError } from "@signet/protocol/oauth/oauth-error";
import type { Application, GrantType } from "../../../core/applications/application.ts";
import type { AuthorizationDetail } from "../../../core/authorization-details/detail-type.ts";
import {
  invalidDetails,
  narrowedDetails,
  stillAllowedDetails,
  usableTypes,
} from "../../../core/authorization-details/details.ts";
import type { CoreDeps } from "../../../core/core-deps.ts";
import type { Organisation } from "../../../core/organisations/organisation.ts";
import {
  type AccessDeps,
  nameableBy,
  readAccessRules,
} from "../../../core/protected-resources/asked-access.ts";
import { apiAudience } from "../../../core/scopes/api-scopes.ts";
import { type GrantedDefinitions, stillDefined } from "../../../core/scopes/scope-definitions.ts";
import { grantableScopes } from "../../../core/scopes/scopes.ts";
import type { TokenSubject } from "../../../core/tokens/claims.ts";
import type { HeldTokens, SignedTokens, SigningContext } from "../../../core/tokens/signer.ts";
import type { RefreshTokenKeys } from "../../../core/tokens/token-family.ts";

export interface GrantDeps extends CoreDeps, AccessDeps, RefreshTokenKeys {}

export interface GrantRequest {
  readonly organisation: Organisation;
  /** Authenticated, enabled, and allowed to use this grant. */
  readonly application: Application;
  readonly form: Form;
  /** Milliseconds. */
  readonly now: number;
  readonly address: string;
  /** The device whose certificate came with the request, for clients that use certificates; else null. */
  readonly deviceId: string | null;
  /** The thumbprint of the key of the request's DPoP proof. */
  readonly dpopJkt: string | null;
  /** The certificate that the tokens are bound to. */
  readonly certificateThumbprint: string | null;
}

/** A validated grant: what it gives, and to whom. Each grant adds what it consumes later. */
export interface GrantBasis
  extends Pick<
      TokenSubject,
      "scopes" | "resources" | "authorizationDetails" | "user" | "definitions" | "derived"
    >,
    Pick<SigningContext, "proofHash" | "signingRequest"> {
  /** Of an exchange (RFC 8693 §2.2.1). */
  readonly issuedTokenType?: string;
  /** Of a refresh token: what the tokens were bound to that it came with. */
  readonly holder?: { readonly deviceId: string | null; readonly dpopJkt: string | null };
  /** Of a refresh token: whether the authorization request behind it was signed (RFC 9101). */
  readonly requestSigned?: boolean | null;
}

/** A token that is no access token of this server (RFC 8693 §2.2.1). */
export interface OtherTokenResponse {
  readonly access_token: string;
  readonly issued_token_type: string;
  readonly token_type: "N_A";
  readonly expires_in: number;
  readonly scope: string;
}

export interface ConsumedGrant {
  readonly tokens: SignedTokens;
  readonly refreshToken?: string | undefined;
}

export interface Grant<Basis extends GrantBasis = GrantBasis> {
  readonly grantType: GrantType;
  /** Whether what is presented proves the client too: it then needs no other authentication. */
  provesClient?(form: Form): boolean;
  /** An answer of another kind than an access token, where that is what the request asks for. @throws OAuthError */
  answer?(request: GrantRequest): Promise<OtherTokenResponse | undefined>;
  /** Checks what the client presented; consumes nothing. @throws OAuthError */
  validate(request: GrantRequest): Promise<Basis>;
  /**
   * Consumes the grant and releases the signed tokens, both or neither.
   * @throws OAuthError invalid_grant when another request was faster
   */
  consume(request: GrantRequest, basis: Basis, signed: SignedTokens | HeldTokens): Promise<ConsumedGrant>;
}

/**
 * The granted scopes, or those of them that are asked for, that are still defined and that the application is still allowed.
 * @throws OAuthError invalid_grant when none is left
 */
export async function stillAllowedScopes(
  { customScopes }: GrantDeps,
  granted: GrantedDefinitions & { readonly scopes: readonly string[] },
  { orgId, settings }: Application,
  asked = granted.scopes,
): Promise<string[]> {
  const defined = stillDefined(asked, granted, await customScopes.list(orgId));
  const scopes = grantableScopes(defined, settings.allowedScopes);
  if (scopes.length > 0) return scopes;
  const cause = "the application is no longer allowed any of these scopes";
  throw new OAuthError("invalid_grant", "the granted scopes are no longer allowed", { cause });
}

/**
 * The resources of this token: those that the request names among the granted ones (RFC 8707 §2.2), or all that the
 * application is still allowed. @throws OAuthError invalid_target
 */
export async function stillAllowedResources(
  deps: GrantDeps,
  { form, application }: Pick<GrantRequest, "form" | "application">,
  granted: readonly string[],
): Promise<readonly string[]> {
  if (granted.length === 0 && !form.values.has("resource")) return [];
  const nameable = nameableBy(application, await readAccessRules(deps, application.orgId));
  // A token for no resource is for the API too, when a scope gives access to it: it may be for the API alone.
  const covered = granted.length > 0 ? granted : [apiAudience(deps.baseUrl)];
  const allowed = covered.filter((resource) => nameable.includes(resource));
  // Without this check a grant that lost all its resources would get a token for the default audience.
  if (granted.length > 0 && allowed.length === 0) throw invalidTarget();
  return form.values.has("resource") ? requestedResources(form, allowed) : allowed;
}

/** What was granted in detail (RFC 9396), and what of it this token has. */
export interface GrantedDetails {
  /** What the grant goes on with. */
  readonly kept: readonly AuthorizationDetail[];
  readonly asked: readonly AuthorizationDetail[];
}

/**
 * The authorization details of the grant that may still be given, or the part that the request asks for.
 * @param resources of this token
 * @throws OAuthError invalid_authorization_details
 */
export async function grantedDetails(
  { detailTypes }: Pick<GrantDeps, "detailTypes">,
  { form, application }: Pick<GrantRequest, "form" | "application">,
  granted: Parameters<typeof stillAllowedDetails>[0],
  resources: readonly string[],
): Promise<GrantedDetails> {
  const text = form.values.get("authorization_details");
  if (granted.authorizationDetails.length === 0 && text === undefined) return { kept: [], asked: [] };
  const usable = usableTypes(application, await detailTypes.list(application.orgId));
  const allowed = stillAllowedDetails(granted, usable, resources);
  return { kept: stillAllowedDetails(granted, usable, []), asked: narrowedDetails(text, allowed, usable) };
}

/** Where no user is asked for them, none can be granted. @throws OAuthError invalid_authorization_details */
export function refuseDetails({ values }: Form): void {
  if (values.has("authorization_details"))
    throw invalidDetails("authorization_details needs an authorization request");
}

const MAX_RESOURCES = 10;

/**
 * The `resource` parameters (RFC 8707 §2).
 * @param allowed the application's resources, or at the token endpoint those of the authorization
 * @throws OAuthError invalid_target
 */
export function requestedResources(form: Form, allowed: readonly string[]): string[] {
  const first = form.values.get("resource");
  if (first === undefined) return [];
  const resources = [...new Set(form.allValues.get("resource") ?? [first])];
  if (resources.length > MAX_RESOURCES || resources.some((resource) => !allowed.includes(resource)))
    throw invalidTarget();
  return resources;
}

const invalidTarget = () =>
  new OAuthError("invalid_target", "a resource is unknown or not allowed for this client", {
    reason: "resource-not-allowed",
  });
