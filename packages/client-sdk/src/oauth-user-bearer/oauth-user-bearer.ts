/** The filter OAuthUserBearer: an API called with access tokens (RFC 6750, RFC 9068), sender-constrained ones included. */
import { errorReporter } from "../application-callbacks.ts";
import { checkConfiguration } from "../configuration/check-configuration.ts";
import type { OAuthUserBearerConfiguration, Settings } from "../configuration/settings.ts";
import { configurationError, SignetError } from "../errors.ts";
import type { Filter, RequestContext, Runtime } from "../filter.ts";
import { createLedgerProofs, type LedgerProofOptions } from "../ledger/ledger-proofs.ts";
import { principalOfClaims } from "../principal.ts";
import { verifyAccessToken } from "../tokens/access-token.ts";
import { createReplayMemory, type DpopNonces, type ReplayMemory } from "./dpop-nonces.ts";
import { requireActive } from "./introspection.ts";
import { publishedMetadata, type ResourceMetadata } from "./resource-metadata.ts";
import { authenticationParameters, requireAuthentication } from "./step-up.ts";
import {
  checkTokenBinding,
  type PresentedToken,
  readBearerToken,
  requireConstraint,
  type SenderConstraint,
  senderConstraints,
} from "./token-binding.ts";
import { createTokenIssuers, requireOwnOrganisation } from "./token-issuers.ts";
import { requireScopes, unauthorizedResponse } from "./unauthorized-response.ts";

/** Options of `oauthUserBearer`. */
export interface OAuthUserBearerOptions
  extends Runtime,
    Pick<LedgerProofOptions, "onUnproven" | "ledgerToken"> {
  /** Stores used DPoP proofs. Default: in this process; several instances of an API need a shared one. */
  readonly replayMemory?: ReplayMemory;
  /** Requires a nonce in DPoP proofs (RFC 9449 §9), see `createDpopNonces`. Default: none. */
  readonly dpopNonces?: DpopNonces;
  /**
   * What every token must be bound to: the key of a DPoP proof (RFC 9449), a client certificate (RFC 8705), or either (`any`).
   * Tokens of less get 401. Default `none`: a token that is bound must be proven, others need not be; with a `securityProfile` it is
   * `any`.
   */
  readonly senderConstraint?: SenderConstraint;
  /**
   * Serves the API's metadata at `/.well-known/oauth-protected-resource…` and names it in every challenge (RFC 9728), so that a
   * client which knows nothing but the API's address, e.g. of MCP, finds the way in. Default: none. The filter must get the
   * requests for that path: protect the whole server with it.
   */
  readonly resourceMetadata?: ResourceMetadata | true;
  /** Every token's `acr` must be one of these (RFC 9470), see `requireAuthentication`. */
  readonly acrValues?: readonly string[];
  /** No token's user may have signed in longer ago (RFC 9470). */
  readonly maxAgeSeconds?: number;
}

/**
 * Protects an API. Every request needs an access token in its Authorization header: signed by the issuer, issued for
 * `oauthAudience`, not expired, and with all `oauthScopes`. A token bound to a certificate or key (`cnf`) needs proof of
 * possession; DPoP needs `baseUrl`, because proofs name the URL they are for. Rejected requests get 401 or 403 with
 * `WWW-Authenticate`, or 503 if the provider is unreachable. With `organisations`, each token is verified with the keys of the
 * organisation that its `iss` names, if that is one of them. The user's properties come from userinfo, once a minute and token
 * with the scope `openid` (`oauthUserinfo`); with signing agents, what none of these has signed is only in `unsignedUserinfo`.
 * @param configuration `federationServer`, `applicationId`, `oauthOrganisationId`, `oauthAudience`, and e.g. `oauthScopes`
 * @throws SignetError `configuration`
 * @example
 * const filter = oauthUserBearer(configurationFromEnvironment(process.env));
 * Deno.serve(protect(filter, (request, principal) => Response.json(principal.subject)));
 */
export function oauthUserBearer(
  configuration: OAuthUserBearerConfiguration,
  options: OAuthUserBearerOptions = {},
): Filter {
  const settings = checkConfiguration({ ...configuration, filterType: "OAuthUserBearer" });
  const verify = createVerifier(settings, options);
  requireProvable(settings, options);
  const reportError = errorReporter(options.onError);
  const { audience: realm, scopes, baseUrl, isOptional } = settings;
  const metadata = options.resourceMetadata && publishedMetadata(options.resourceMetadata, settings);
  return {
    filterType: "OAuthUserBearer",
    authenticate: async (request, context) => {
      const described = metadata?.answer(request);
      if (described) return { kind: "answer", response: described };
      let presented: PresentedToken | undefined;
      try {
        presented = readBearerToken(request);
        if (presented === undefined && isOptional) return { kind: "anonymous", cookies: [] };
        if (presented === undefined)
          throw new SignetError("token_missing", noToken, {
            description: "The request has no access token.",
          });
        const principal = await verify(request, presented, context);
        return { kind: "authenticated", principal, cookies: [] };
      } catch (error) {
        if (!(error instanceof SignetError)) throw error;
        reportError(error);
        const needsNonce = error.oauthError === "use_dpop_nonce";
        const nonce = needsNonce ? await options.dpopNonces?.current() : undefined;
        const acceptsDpop = baseUrl !== undefined;
        const required = {
          resourceMetadata: metadata?.url,
          authentication: authenticationParameters(options),
        };
        const challenge = { realm, scopes, scheme: presented?.scheme, acceptsDpop, nonce, ...required };
        return { kind: "answer", response: unauthorizedResponse(error, challenge), error };
      }
    },
  };
}

/** An API that wants keys of every token could take none without its own URL. @throws SignetError `configuration` */
function requireProvable(settings: Settings, { senderConstraint }: OAuthUserBearerOptions): void {
  const { baseUrl, securityProfile = "none" } = settings;
  if (securityProfile !== "none" && senderConstraint === "none")
    throw configurationError("securityProfile takes bound tokens alone: leave senderConstraint out.");
  if (senderConstraint !== undefined && !senderConstraints.includes(senderConstraint))
    throw configurationError(`senderConstraint must be one of ${senderConstraints.join(", ")}.`);
  if (senderConstraint === "dpop" && baseUrl === undefined)
    throw configurationError("senderConstraint `dpop` needs baseUrl: proofs name the URL they are for.");
}

const noToken =
  "The request has no Authorization header with an access token: the caller sends none, or a proxy in front of this API removes it.";

function createVerifier(settings: Settings, options: OAuthUserBearerOptions) {
  const { audience, baseUrl, allowUntypedAccessTokens: allowUntyped } = settings;
  if (audience === undefined) throw configurationError("OAuthUserBearer needs oauthAudience.");
  const { clock = Date.now, replayMemory: replays = createReplayMemory({ clock }), dpopNonces } = options;
  const issuerOf = createTokenIssuers(settings, { ...options, clock });
  const { ledger, environment } = settings;
  const proofs = ledger && createLedgerProofs({ ...ledger, environment }, options);
  const checks = { audience, allowUntyped, clock, ledger: proofs };
  const isFapi = (settings.securityProfile ?? "none") !== "none";
  const constraint = options.senderConstraint ?? (isFapi ? "any" : undefined);
  return async (request: Request, presented: PresentedToken, context: RequestContext | undefined) => {
    const { token: accessToken } = presented;
    // 1 signature, issuer, audience and times (RFC 9068 §4), and the proof that it is in the ledger
    const from = await issuerOf(accessToken);
    const { keys, issuer, introspection, userinfoOf } = from;
    const claims = await verifyAccessToken(accessToken, { ...checks, keys, issuer });
    requireOwnOrganisation(claims, from);
    // 2 proof of possession (RFC 8705 §3, RFC 9449 §7). The origin is ours: the caller writes the Host header.
    const url = `${baseUrl}${new URL(request.url).pathname}`;
    const dpop = { method: request.method, url, clock, replays, nonces: dpopNonces };
    requireConstraint(claims, constraint);
    await checkTokenBinding(claims, {
      presented,
      clientCertificate: context?.clientCertificate,
      dpopProof: request.headers.get("dpop"),
      dpop: baseUrl === undefined ? undefined : dpop,
    });
    // 3 scopes, and how the user has signed in (RFC 9470)
    const { organisationId } = from;
    const verified = { authenticatedBy: "OAuthUserBearer", claims, accessToken, organisationId } as const;
    requireScopes(principalOfClaims(verified), ...settings.scopes);
    requireAuthentication({ claims }, { ...options, clock });
    // 4 introspection (RFC 7662), if configured
    if (introspection) await requireActive(introspection, accessToken, claims);
    // 5 the user's properties; with signing agents the service's word for them doesn't count, only what these have signed
    const fetched = await userinfoOf?.(accessToken, claims);
    const userinfo = fetched?.claims ?? {};
    if (settings.sovereign === undefined) return principalOfClaims({ ...verified, userinfo });
    if (fetched?.isSigned) return principalOfClaims({ ...verified, userinfo, unsigned: { userinfo: {} } });
    return principalOfClaims({ ...verified, unsigned: { userinfo } });
  };
}
