/** The certificate or key of an access token, for APIs beside the OAuth endpoints (RFC 8705 §3, RFC 9449 §7). */
import { dpopChallenge } from "@signet/protocol/oauth/authorization-header";
import { OAuthError } from "@signet/protocol/oauth/oauth-error";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Organisation } from "../core/organisations/organisation.ts";
import type { AccessTokenClaims } from "../core/tokens/claims.ts";
import type { ApiAccessDeps } from "../features/api-v1/access.ts";
import { proveToken } from "../features/oauth/bearer-authentication.ts";
import { hasBoundCertificate } from "../features/oauth/client-authentication/client-device.ts";
import { dpopAlgorithms } from "../features/oauth/sender-constraint.ts";
import { ApiError } from "../http/api/api-error.ts";
import type { Service } from "./open-service.ts";

export function bindingProver(service: Service): ApiAccessDeps["proveBinding"] {
  const { baseUrl, mtlsBaseUrl } = service.config;
  const bases = mtlsBaseUrl === undefined ? [baseUrl] : [baseUrl, mtlsBaseUrl];
  const deps = { ...service, baseUrl, mtlsBaseUrl };
  return async (organisation, request, presented) => {
    if (!(await hasBoundCertificate(deps, organisation, request, presented.claims)))
      throw new OAuthError("invalid_token", "the access token is bound to a certificate that is missing");
    const [path = ""] = (request.raw.url ?? "").split("?");
    const { headers, raw } = request;
    await proveToken(deps, organisation, { headers, raw, urls: bases.map((base) => base + path) }, presented);
  };
}

interface Exchange {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

interface Presented {
  readonly token: string;
  readonly claims: AccessTokenClaims;
  /** By the scheme DPoP. */
  readonly isDpop: boolean;
}

/**
 * The same for routes that answer by themselves. Whoever has a key gets the nonce to use next, with refusals too (RFC 9449 §8.2).
 * @returns a function that throws ApiError 401 with a challenge, or OAuthError for a token of no key
 */
export function exchangeProver(service: Service, realmOf: (organisation: Organisation) => string) {
  const prove = bindingProver(service);
  return async (
    organisation: Organisation,
    { request, reply }: Exchange,
    presented: Presented,
  ): Promise<void> => {
    const isOfKey = presented.isDpop || presented.claims.cnf?.jkt !== undefined;
    if (isOfKey) reply.header("dpop-nonce", service.dpopNonces.current(organisation.id));
    try {
      await prove(organisation, request, presented);
    } catch (error) {
      if (!(error instanceof OAuthError) || !isOfKey) throw error;
      const { code, description } = error;
      const challenge = dpopChallenge(realmOf(organisation), code, description, { algs: dpopAlgorithms });
      throw new ApiError(401, "not-authenticated", "The request is not authenticated", {
        ...{ cause: description, detail: `The access token is bound to a key: ${description}.` },
        headers: { "www-authenticate": challenge },
      });
    }
  };
}
