/** POST /oauth/{org}/token (RFC 6749 §3.2): the six phases that every grant goes through. */

import { requireSingle } from "@signet/protocol/form";
import { OAuthError } from "@signet/protocol/oauth/oauth-error";
import { formatScope } from "@signet/protocol/oauth/scope";
import type { FastifyInstance } from "fastify";
import type { Activity } from "../../../core/activity/activity.ts";
import { countToken } from "../../../core/activity/kinds.ts";
import { mayUse } from "../../../core/application-access/application-access.ts";
import type { Application } from "../../../core/applications/application.ts";
import type { AuthorizationDetail } from "../../../core/authorization-details/detail-type.ts";
import { seconds } from "../../../core/clock.ts";
import { type DpopProof, invalidProof, useDpopProof } from "../../../core/dpop/dpop-proof.ts";
import type { Organisation } from "../../../core/organisations/organisation.ts";
import type { OrganisationDirectory } from "../../../core/organisations/organisations.ts";
import {
  type AccessDeps,
  readAccessRules,
  resolveAccess,
  tokenResource,
} from "../../../core/protected-resources/asked-access.ts";
import type { ProtectedResource } from "../../../core/protected-resources/protected-resource.ts";
import { apiAudience, apiScopesOf, grantableByUser } from "../../../core/scopes/api-scopes.ts";
import { applicationIssuer } from "../../../core/signing-pools/directory.ts";
import {
  type AddedClaimsDeps,
  addedClaims,
  type TokenDevice,
  type TokenSubject,
} from "../../../core/tokens/claims.ts";
import { idTokenEncryption, withEncryptedIdToken } from "../../../core/tokens/encrypted-id-token.ts";
import type { PoolSigning } from "../../../core/tokens/pool-signing.ts";
import {
  type HeldTokens,
  type SignedTokens,
  type Signer,
  type SigningContext,
  type TokensToSign,
  unsignedTokens,
} from "../../../core/tokens/signer.ts";
import { type Answer, type Call, jsonAnswer } from "../../../http/calls/call.ts";
import { callRoute } from "../../../http/calls/call-route.ts";
import type { DirectCalls } from "../../../http/calls/direct-calls.ts";
import { addressOf } from "../../../http/listeners/client-address.ts";
import { callInOrganisation } from "../../../http/organisation-lookup.ts";
import { counter } from "../../../telemetry/families.ts";
import { inSpan } from "../../../telemetry/tracing.ts";
import {
  authenticateClient,
  type ClientAuthenticationDeps,
  type IdentifiedClient,
  identifyClient,
} from "../client-authentication/client-authentication.ts";
import { tokenDevice } from "../client-authentication/client-device.ts";
import { clientProof, type DpopDeps, withDpopNonce } from "../sender-constraint.ts";
import type { ConsumedGrant, Grant, GrantBasis, OtherTokenResponse } from "./grant.ts";

export interface TokenRouteDeps extends ClientAuthenticationDeps, AddedClaimsDeps, AccessDeps, DpopDeps {
  readonly organisations: OrganisationDirectory;
  /** For applications without a signing pool. */
  readonly signer: Signer;
  readonly poolSigning: PoolSigning;
  readonly grants: readonly Grant[];
  readonly activity: Pick<Activity, "count">;
}

interface TokenRequest {
  readonly organisation: Organisation;
  readonly call: Call;
  readonly grantType: string;
  readonly client: IdentifiedClient;
}

/** RFC 6749 §5.1. */
interface TokenResponse {
  readonly access_token: string;
  readonly token_type: "Bearer" | "DPoP";
  /** RFC 8693 §2.2.1. */
  readonly issued_token_type?: string;
  readonly expires_in: number;
  readonly scope?: string;
  readonly id_token?: string;
  readonly refresh_token?: string;
  /** RFC 9396 §7. */
  readonly authorization_details?: readonly AuthorizationDetail[];
}

export function tokenRoute(app: FastifyInstance, direct: DirectCalls, deps: TokenRouteDeps): void {
  const handler = callInOrganisation<Organisation>(
    deps.organisations.find,
    withDpopNonce(deps, (organisation, call) => answerTokenRequest(deps, organisation, call)),
  );
  callRoute(app, direct, { method: "POST", path: "/oauth/:org/token" }, handler);
}

async function answerTokenRequest(
  deps: TokenRouteDeps,
  organisation: Organisation,
  call: Call,
): Promise<Answer> {
  const { count } = deps.activity;
  const grantType = call.form.values.get("grant_type");
  let client: IdentifiedClient | undefined;
  try {
    requireSingle(call.form);
    if (grantType === undefined) throw new OAuthError("invalid_request", "grant_type is missing");
    const identified = await identifyClient(deps, organisation, call);
    client = identified;
    const response = await deps.refusedRequests.watch(identified.application, "token", () =>
      issueTokens(deps, { organisation, call, grantType, client: identified }),
    );
    countToken(count, organisation.id, identified.application.id);
    countRequest(deps, grantType, "issued");
    return jsonAnswer(response);
  } catch (error) {
    countRequest(deps, grantType, error instanceof OAuthError ? error.code : "error");
    if (client && error instanceof OAuthError && !isPending(error)) count(organisation.id, "refused-tokens");
    throw error;
  }
}

const requests = counter(
  {
    name: "signet_token_requests_total",
    help: "Token requests by grant and outcome: issued, the OAuth error, or error for a failure of ours",
  },
  ["grant", "outcome"],
);

function countRequest({ grants }: TokenRouteDeps, grantType: string | undefined, outcome: string): void {
  const isKnown = grants.some((one) => one.grantType === grantType);
  requests.at(isKnown ? grantType : "other", outcome).value++;
}

/** A device code whose user has not decided yet (RFC 8628 §3.5). */
const isPending = ({ code }: OAuthError): boolean => code === "authorization_pending" || code === "slow_down";

/** @throws OAuthError */
async function issueTokens(
  deps: TokenRouteDeps,
  { organisation, call, grantType, client }: TokenRequest,
): Promise<TokenResponse | OtherTokenResponse> {
  // 1 client authentication (RFC 6749 §2.3)
  const { application, certificate } = provesItself(deps.grants, { grantType, call, client })
    ? { application: client.application, certificate: undefined }
    : await inSpan("client authentication", authenticateClient, deps, organisation, call, client);

  // 2 is the client allowed this grant (§5.2)
  const grant = requireGrant(deps.grants, application, grantType);

  // 3 validate the grant; nothing is consumed yet
  const now = deps.clock();
  const address = addressOf(call);
  const device = await tokenDevice(deps, application, certificate, call);
  const proof = clientProof(deps, organisation, call, application.settings);
  const of = { organisation, application, form: call.form, now, address };
  const grantRequest = { ...of, ...bindingOf(device, proof) };
  const other = await grant.answer?.(grantRequest);
  if (other) {
    if (proof) await useDpopProof(deps.database.query, organisation.id, proof);
    return other;
  }
  const validated = await inSpan("grant", grant.validate, grantRequest);
  const { basis, resource } = await forResource(deps, application, validated);
  const bound = await resourceBinding(deps, application, { resource, device, certificate, proof, call });
  await requireHolder(deps, application, basis.holder, { resource, device: bound, certificate, proof, call });
  if (proof) await useDpopProof(deps.database.query, organisation.id, proof, { isSynced: false });

  // 4 the subject, with its scopes, audience, binding and claims
  const resolved = await resolveSubject(deps, application, basis, bound);
  const subject = { ...resolved, jkt: proof?.jkt, resource };

  // 5 sign, by local keys or the organisation's agents: a failed signature burns no code and no refresh token
  const unsigned = unsignedTokens(organisation, subject, now, basis.requestSigned);
  const { proofHash, signingRequest } = basis;
  const signed = await signTokens(deps, subject, unsigned, {
    grantType: grant.grantType,
    address,
    ...(proofHash === undefined ? {} : { proofHash }),
    ...(signingRequest === undefined ? {} : { signingRequest }),
  });

  // 6 consume the grant and release the tokens, in one transaction
  const held = { ...grantRequest, ...bindingOf(bound, proof) };
  const { tokens, refreshToken } = await inSpan("grant release", grant.consume, held, basis, signed);
  const { exp, iat } = unsigned.accessToken;
  const expiresIn = tokens.exp === undefined ? exp - iat : tokens.exp - seconds(deps.clock());
  const { scopes, authorizationDetails: details = [] } = subject;
  const { issuedTokenType } = basis;
  const isDpop = proof !== undefined;
  return tokenResponse({ tokens, refreshToken, expiresIn, scopes, details, isDpop, issuedTokenType });
}

/** Signed, and the ID token encrypted where the application wants that. @throws OAuthError */
async function signTokens(
  deps: TokenRouteDeps,
  subject: TokenSubject,
  unsigned: TokensToSign,
  context: SigningContext,
): Promise<SignedTokens | HeldTokens> {
  const encrypt = await idTokenEncryption(deps, subject);
  const signer = subject.application.settings.signingPoolId === undefined ? deps.signer : deps.poolSigning;
  const signed = await inSpan("sign", signer.sign, unsigned, context);
  return encrypt ? withEncryptedIdToken(signed, encrypt) : signed;
}

interface Issued extends ConsumedGrant {
  readonly expiresIn: number;
  readonly scopes: readonly string[];
  readonly details: readonly AuthorizationDetail[];
  readonly isDpop: boolean;
  readonly issuedTokenType: string | undefined;
}

const tokenResponse = ({
  tokens,
  refreshToken,
  expiresIn,
  scopes,
  details,
  isDpop,
  issuedTokenType,
}: Issued): TokenResponse => ({
  access_token: tokens.accessToken,
  token_type: isDpop ? "DPoP" : "Bearer",
  ...(issuedTokenType === undefined ? {} : { issued_token_type: issuedTokenType }),
  expires_in: expiresIn,
  ...(scopes.length > 0 ? { scope: formatScope(scopes) } : {}),
  ...(tokens.idToken === undefined ? {} : { id_token: tokens.idToken }),
  ...(refreshToken === undefined ? {} : { refresh_token: refreshToken }),
  ...(details.length > 0 ? { authorization_details: details } : {}),
});

/** What of the grant one token may have, and whose rules it follows. @throws OAuthError */
async function forResource<Basis extends GrantBasis>(
  deps: TokenRouteDeps,
  application: Application,
  granted: Basis,
): Promise<{ readonly basis: Basis; readonly resource: ProtectedResource | undefined }> {
  const rules = await readAccessRules(deps, application.orgId);
  const basis = grantableBasis(
    { ...granted, ...resolveAccess(granted, application, rules) },
    application,
    deps,
  );
  return { basis, resource: tokenResource(basis, application, rules) };
}

/**
 * The device of the token: bound to its certificate also where the resource asks for that, and the application does not.
 * @throws OAuthError when the resource takes bound tokens alone, and nothing binds this one
 */
async function resourceBinding(
  deps: TokenRouteDeps,
  application: Application,
  { resource, device, certificate, proof, call }: Bound,
): Promise<TokenDevice | undefined> {
  const constraint = resource?.senderConstraint ?? "none";
  if (constraint === "none" || (constraint !== "mtls" && proof)) return device;
  if (constraint === "dpop")
    throw invalidProof("tokens for this resource are bound to a key: send a DPoP proof");
  if (device?.thumbprint !== undefined) return device;
  const settings = { ...application.settings, tlsClientCertificateBoundAccessTokens: true };
  const certified = await tokenDevice(deps, { ...application, settings }, certificate, call);
  if (certified?.thumbprint !== undefined) return certified;
  throw new OAuthError("invalid_request", "tokens for this resource are bound to a certificate: send one");
}

const bindingOf = (device: TokenDevice | undefined, proof: DpopProof | undefined) => ({
  dpopJkt: proof?.jkt ?? null,
  certificateThumbprint: device?.thumbprint ?? null,
  deviceId: device?.id ?? null,
});

/**
 * A refresh token is bound to what the tokens are bound to that it came with (RFC 8705 §7.1, RFC 9449 §5): for a resource that takes
 * bound tokens alone, one of a public client is no good that anybody could use. @throws OAuthError invalid_grant
 */
async function requireHolder(
  deps: TokenRouteDeps,
  application: Application,
  holder: GrantBasis["holder"],
  { resource, device, certificate, call }: Bound,
): Promise<void> {
  if (holder === undefined) return;
  const refused = (cause: string) =>
    new OAuthError("invalid_grant", "the refresh token cannot be used", { cause });
  const isConstrained = (resource?.senderConstraint ?? "none") !== "none";
  const isPublic = application.settings.tokenEndpointAuthMethod === "none";
  if (isPublic && isConstrained && holder.dpopJkt === null && holder.deviceId === null)
    throw refused("bound to nothing, for a resource that takes bound tokens alone");
  if (holder.deviceId === null) return;
  const settings = { ...application.settings, tlsClientCertificateBoundAccessTokens: true };
  const missing = (error: unknown) => {
    if (error instanceof OAuthError) throw refused("no certificate of its device");
    throw error;
  };
  const presented =
    device ?? (await tokenDevice(deps, { ...application, settings }, certificate, call).catch(missing));
  if (presented?.id !== holder.deviceId) throw refused("issued to another device");
}

interface Bound {
  readonly resource: ProtectedResource | undefined;
  readonly device: TokenDevice | undefined;
  readonly certificate: Parameters<typeof tokenDevice>[2];
  readonly proof: DpopProof | undefined;
  readonly call: Call;
}

/** The client says only who it is, and a workload's assertion proves it: phase 3 refuses every other one. */
const provesItself = (grants: readonly Grant[], { grantType, call, client }: Presented): boolean =>
  client.credentials.method === "none" &&
  grants.some((grant) => grant.grantType === grantType && grant.provesClient?.(call.form) === true);

type Presented = Pick<TokenRequest, "grantType" | "call" | "client">;

function requireGrant(grants: readonly Grant[], { settings }: Application, grantType: string): Grant {
  const grant = grants.find((one) => one.grantType === grantType);
  if (!grant)
    throw new OAuthError("unsupported_grant_type", "this grant_type is not supported", {
      reason: "grant-not-allowed",
    });
  if (!settings.grantTypes.includes(grant.grantType))
    throw new OAuthError("unauthorized_client", "the client may not use this grant_type", {
      reason: "grant-not-allowed",
    });
  return grant;
}

async function resolveSubject(
  deps: TokenRouteDeps,
  application: Application,
  { scopes, definitions, resources, authorizationDetails = [], user, derived }: GrantBasis,
  device: TokenDevice | undefined,
): Promise<TokenSubject> {
  // A user who was unassigned since the grant gets no more tokens for the application.
  if (user && !(await mayUse(deps.database.query, application, user.user.id)))
    throw new OAuthError("invalid_grant", "the user may not use this application", {
      cause: "the user is not assigned to the application",
      reason: "user-not-assigned",
    });
  const issuer = await applicationIssuer(deps, application);
  const api = await apiAccess(deps, application, scopes);
  const named = user && !api ? withoutApi(deps, { scopes, resources }, issuer) : resources;
  const granted = { scopes, ...(definitions === undefined ? {} : { definitions }), resources: named };
  const subject = { issuer, application, ...granted, authorizationDetails, user, device, derived };
  return { ...subject, ...(api ? { api } : {}), added: await addedClaims(deps, subject) };
}

/**
 * Without access to the API that the user, as they are now, may not give; or that another service could use, which alone the token
 * is for (RFC 8707 §2.2). @throws OAuthError when nothing is left
 */
function grantableBasis<Basis extends GrantBasis>(
  basis: Basis,
  { settings }: Application,
  { baseUrl }: TokenRouteDeps,
): Basis {
  const { user, resources } = basis;
  if (!user) return basis;
  const isElsewhere = resources.length > 0 && !resources.includes(apiAudience(baseUrl));
  const scopes = grantableByUser(basis.scopes, isElsewhere ? nobody : user.user, settings);
  if (scopes.length > 0) return scopes.length === basis.scopes.length ? basis : { ...basis, scopes };
  throw new OAuthError("invalid_grant", "the granted scopes are no longer allowed", {
    cause: "only an administrator may give access to the API",
  });
}

const nobody = { role: "nobody" };

/** What of the token gives access to the API. */
async function apiAccess(
  { baseUrl, customScopes }: TokenRouteDeps,
  { orgId }: Application,
  scopes: readonly string[],
): Promise<TokenSubject["api"]> {
  const ofApi = apiScopesOf(scopes, await customScopes.list(orgId));
  if (ofApi.length === 0) return undefined;
  return { audience: apiAudience(baseUrl), isAll: ofApi.length === scopes.length };
}

/**
 * The resources of a token that gives no access to the API: it is not for the API either, nor for the application's own audience,
 * which was not asked for. @throws OAuthError when it would be for nobody
 */
function withoutApi(
  { baseUrl }: TokenRouteDeps,
  { scopes, resources }: Pick<GrantBasis, "scopes" | "resources">,
  issuer: string,
): readonly string[] {
  const left = resources.filter((resource) => resource !== apiAudience(baseUrl));
  if (left.length > 0 || resources.length === 0) return left;
  // For userinfo.
  if (scopes.includes("openid")) return [issuer];
  throw new OAuthError("invalid_target", "none of the granted scopes gives access to the resource", {
    reason: "resource-not-allowed",
  });
}
