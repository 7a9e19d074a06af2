/** What the requests of clients that register themselves have in common. */
import { bearerChallenge, parseBearer } from "@signet/protocol/oauth/authorization-header";
import { OAuthError } from "@signet/protocol/oauth/oauth-error";
import type { FastifyReply, FastifyRequest } from "fastify";
import { type ClientMetadata, invalidMetadata } from "../../../core/client-registration/client-metadata.ts";
import { UnknownRegistrationToken } from "../../../core/client-registration/register-client.ts";
import type { CoreDeps } from "../../../core/core-deps.ts";
import type { Organisation } from "../../../core/organisations/organisation.ts";
import type { RateLimits } from "../../../core/rate-limits/rate-limits.ts";
import { ApiError } from "../../../http/api/api-error.ts";
import { parseJson, rawBody } from "../../../http/api/json-body.ts";
import { limitNetwork } from "../network-limit.ts";

export interface RegistrationLimitDeps extends CoreDeps {
  readonly rateLimits: Pick<RateLimits, "registration-token-address">;
}

/** @throws OAuthError invalid_token for a request without one */
export function presentedToken(organisation: Organisation, request: FastifyRequest): string {
  const token = parseBearer(request.headers.authorization);
  if (token !== undefined) return token;
  throw new OAuthError("invalid_token", "a token for registration is required", {
    wwwAuthenticate: bearerChallenge(organisation.id),
  });
}

/** One and the same for a token that is unknown, another organisation's, over or disabled; limited by network. */
export async function refusingTokens<T>(
  deps: RegistrationLimitDeps,
  organisation: Organisation,
  request: FastifyRequest,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof UnknownRegistrationToken)) throw error;
    await limitNetwork(deps, organisation.id, {
      ...{ limit: deps.rateLimits["registration-token-address"], from: request },
      what: "wrong tokens for registration",
    });
    const description = "the token is expired, used up, revoked or invalid";
    throw new OAuthError("invalid_token", description, {
      cause: error.message,
      wwwAuthenticate: bearerChallenge(organisation.id, "invalid_token", description),
    });
  }
}

/** @throws OAuthError invalid_client_metadata */
export function readMetadata(request: FastifyRequest): ClientMetadata {
  const body = parsedBody(request);
  if (typeof body !== "object" || body === null || Array.isArray(body))
    throw invalidMetadata("the body is not a JSON object");
  return body as ClientMetadata;
}

function parsedBody(request: FastifyRequest): unknown {
  try {
    return parseJson(rawBody(request));
  } catch (error) {
    throw error instanceof ApiError ? invalidMetadata(error.detail ?? "the body is not JSON") : error;
  }
}

export const sendInformation = (reply: FastifyReply, status: 200 | 201, information: object): FastifyReply =>
  reply.code(status).header("cache-control", "no-store").header("pragma", "no-cache").send(information);
