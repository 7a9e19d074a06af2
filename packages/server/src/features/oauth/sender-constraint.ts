/** DPoP at an endpoint (RFC 9449 §5, §7, §8): the proof that a request presents, its nonce, and the nonce of every answer. */
import { jwsAlgorithms } from "@signet/protocol/jose/jws";
import { OAuthError } from "@signet/protocol/oauth/oauth-error";
import type { ApplicationSettings } from "../../core/applications/application.ts";
import { isAlgAllowed } from "../../core/applications/security-profile.ts";
import type { Clock } from "../../core/clock.ts";
import type { DpopNonces } from "../../core/dpop/dpop-nonces.ts";
import { type DpopProof, invalidProof, readDpopProof } from "../../core/dpop/dpop-proof.ts";
import { issuerOf, type Organisation } from "../../core/organisations/organisation.ts";
import type { Answer, Call } from "../../http/calls/call.ts";

export interface DpopDeps {
  readonly baseUrl: string;
  /** The base URL of the mTLS endpoints, when it differs. */
  readonly mtlsBaseUrl: string | undefined;
  readonly clock: Clock;
  readonly dpopNonces: DpopNonces;
}

/** As a `WWW-Authenticate` names them (§7.1). */
export const dpopAlgorithms = Object.keys(jwsAlgorithms);

export type ProofSettings = Pick<ApplicationSettings, "requireDpopNonce" | "securityProfile">;

const NONCE_HEADER = "DPoP-Nonce";

/** A request that may have a proof. */
export interface ProvableRequest extends Pick<Call, "headers" | "raw"> {
  /** The addresses that a proof may name. */
  readonly urls: readonly string[];
}

/**
 * The proof of the request. Nothing is used up: see `useDpopProof`.
 * @param accessToken at a resource
 * @returns undefined when there is none
 * @throws OAuthError invalid_dpop_proof or use_dpop_nonce
 */
export function presentedProof(
  deps: DpopDeps,
  organisation: Organisation,
  { headers, raw, urls }: ProvableRequest,
  settings: ProofSettings,
  accessToken?: string,
): DpopProof | undefined {
  const text = headers["dpop"];
  if (text === undefined) return undefined;
  const proof = readDpopProof(String(text), {
    method: raw.method ?? "",
    urls,
    now: deps.clock(),
    ...(accessToken === undefined ? {} : { accessToken }),
  });
  if (!isAlgAllowed(settings, proof.alg))
    throw invalidProof("the algorithm of the DPoP proof is not accepted");
  const { nonce } = proof;
  const isFine =
    nonce === undefined ? !settings.requireDpopNonce : deps.dpopNonces.accepts(organisation.id, nonce);
  if (isFine) return proof;
  throw new OAuthError("use_dpop_nonce", "the DPoP proof needs the nonce of the DPoP-Nonce header");
}

/** At an endpoint that issues tokens. @throws OAuthError, also when the application's tokens need a proof and there is none */
export function clientProof(
  deps: DpopDeps,
  organisation: Organisation,
  call: Call,
  settings: ApplicationSettings,
): DpopProof | undefined {
  const proof = presentedProof(deps, organisation, atEndpoint(deps, organisation, call), settings);
  if (!proof && settings.dpopBoundAccessTokens)
    throw invalidProof("the client's tokens are bound to a key: send a DPoP proof");
  return proof;
}

/** A request of one of the organisation's endpoints. */
export const atEndpoint = (
  deps: DpopDeps,
  organisation: Organisation,
  { headers, raw, route }: Pick<Call, "headers" | "raw" | "route">,
): ProvableRequest => ({ headers, raw, urls: endpointUrls(deps, organisation, route) });

/** Of an endpoint, as clients know it. @param route e.g. `/oauth/:org/token` */
export function endpointUrls(
  { baseUrl, mtlsBaseUrl }: Pick<DpopDeps, "baseUrl" | "mtlsBaseUrl">,
  { id }: Organisation,
  route: string,
): string[] {
  const bases = mtlsBaseUrl === undefined ? [baseUrl] : [baseUrl, mtlsBaseUrl];
  return bases.map((base) => issuerOf(base, id) + route.replace("/oauth/:org", ""));
}

/** Adds the nonce to use next to every answer, refusals included (§8.2). */
export const withDpopNonce =
  (
    { dpopNonces }: Pick<DpopDeps, "dpopNonces">,
    handler: (organisation: Organisation, call: Call) => Promise<Answer>,
  ): ((organisation: Organisation, call: Call) => Promise<Answer>) =>
  async (organisation, call) => {
    try {
      const answer = await handler(organisation, call);
      return { ...answer, headers: [...answer.headers, NONCE_HEADER, dpopNonces.current(organisation.id)] };
    } catch (error) {
      if (!(error instanceof OAuthError)) throw error;
      throw error.withHeaders({ [NONCE_HEADER.toLowerCase()]: dpopNonces.current(organisation.id) });
    }
  };
