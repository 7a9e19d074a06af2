/**
 * A request object that the client has signed (RFC 9101): its claims are the whole request, everything beside them but
 * `client_id` is ignored (§6.3). The key comes from the client's registration only.
 */
import { type Form, parseForm } from "@signet/protocol/form";
import { decodeJwsUnverified, isSigningAlg } from "@signet/protocol/jose/jws";
import { OAuthError } from "@signet/protocol/oauth/oauth-error";
import { compactVerify, errors } from "jose";
import type { Application, ApplicationSettings } from "../../../../core/applications/application.ts";
import { type ClientKeys, ClientKeysUnavailable } from "../../../../core/applications/client-keys.ts";
import { isAlgAllowed, signsMessages } from "../../../../core/applications/security-profile.ts";
import { type Clock, seconds } from "../../../../core/clock.ts";

export interface SignedRequestDeps {
  readonly clientKeys: ClientKeys;
  readonly clock: Clock;
}

type Claims = Readonly<Record<string, unknown>>;

const MAX_LENGTH = 16_384;
const MAX_LIFETIME_SECONDS = 3_600;
const MAX_AHEAD_SECONDS = 30;
const TYPES: readonly unknown[] = [undefined, "jwt", "oauth-authz-req+jwt"];
/** Headers that carry or reference a key. */
const KEY_HEADERS = ["jku", "jwk", "x5u", "x5c"];
/** Of the JWT, not of the request (RFC 7519 §4.1). */
const JWT_CLAIMS: ReadonlySet<string> = new Set(["iss", "sub", "aud", "exp", "nbf", "iat", "jti"]);

/**
 * @param issuers the names that `aud` may have
 * @returns the request, as a form would have it
 * @throws OAuthError invalid_request_object; request_not_supported for a client without keys
 */
export async function readSignedRequest(
  deps: SignedRequestDeps,
  application: Application,
  object: string,
  issuers: readonly string[],
): Promise<Form> {
  const { settings } = application;
  if (settings.jwks === undefined && settings.jwksUri === undefined)
    throw new OAuthError("request_not_supported", "the client has no keys to sign requests with", {
      reason: "request-object",
    });
  const header = readHeader(object, settings);
  const claims = await verify(deps, application, object, String(header["alg"]));
  const problem =
    findPartyProblem(claims, application.id, issuers) ??
    findTimeProblem(claims, seconds(deps.clock()), signsMessages(settings));
  if (problem !== undefined) throw invalid(problem);
  return toForm(claims);
}

const invalid = (cause: string) =>
  new OAuthError("invalid_request_object", "the request object cannot be used", {
    cause,
    reason: "request-object",
  });

function readHeader(object: string, settings: ApplicationSettings): Claims {
  const { requestObjectSigningAlg: registered } = settings;
  if (object.length > MAX_LENGTH) throw invalid("it is too long");
  const header = decodeJwsUnverified(object)?.header;
  if (!header) throw invalid("it is not a signed JWT");
  const { alg, typ } = header;
  if (!isSigningAlg(alg) || !isAlgAllowed(settings, alg) || (registered !== undefined && alg !== registered))
    throw invalid("its algorithm is not accepted");
  if (!TYPES.includes(typeof typ === "string" ? typ.toLowerCase().replace(/^application\//, "") : typ))
    throw invalid("its typ names another type of token");
  const keyHeader = KEY_HEADERS.find((name) => name in header);
  if (keyHeader !== undefined) throw invalid(`its header contains ${keyHeader}`);
  return header;
}

async function verify(
  { clientKeys }: SignedRequestDeps,
  application: Application,
  object: string,
  alg: string,
): Promise<Claims> {
  try {
    const { payload } = await compactVerify(object, clientKeys.lookup(application), { algorithms: [alg] });
    const claims: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(payload));
    if (typeof claims === "object" && claims !== null && !Array.isArray(claims)) return claims as Claims;
  } catch (error) {
    if (error instanceof errors.JOSEError || error instanceof ClientKeysUnavailable)
      throw invalid(error.message);
    if (!(error instanceof SyntaxError || error instanceof TypeError)) throw error;
  }
  throw invalid("its payload is not a JSON object");
}

function findPartyProblem(claims: Claims, clientId: string, issuers: readonly string[]): string | undefined {
  const { iss, aud, sub, client_id } = claims;
  if (iss !== clientId || client_id !== clientId) return "iss and client_id are not the client";
  // §10.8: it would be a client assertion too.
  if (sub === clientId) return "sub is the client";
  const audiences: unknown[] = [aud].flat();
  if (!audiences.some((one) => typeof one === "string" && issuers.includes(one)))
    return "aud is not this issuer";
  if (Object.hasOwn(claims, "request") || Object.hasOwn(claims, "request_uri"))
    return "a request inside a request (§4)";
  return undefined;
}

const isTime = (value: unknown): value is number => typeof value === "number" && Number.isFinite(value);

/**
 * RFC 9101 demands no time. `exp` has to be there, and at most an hour after `nbf`, else `iat`; an object with neither is as good as
 * one made now, so its own `exp` bounds it.
 * @param isBounded FAPI 2.0 Message Signing §5.3.1: `nbf` is there, and at most an hour ago
 */
function findTimeProblem({ exp, nbf, iat }: Claims, now: number, isBounded: boolean): string | undefined {
  const times = [nbf, iat].filter((one) => one !== undefined);
  if (!isTime(exp) || !times.every(isTime)) return "exp is missing, or a time is no number";
  if (exp <= now) return "it has expired";
  if (times.some((one) => one > now + MAX_AHEAD_SECONDS)) return "nbf or iat is in the future";
  if (isBounded && !(isTime(nbf) && nbf >= now - MAX_LIFETIME_SECONDS)) return "nbf is missing or too old";
  const begin = times[0] ?? now;
  return exp > begin + MAX_LIFETIME_SECONDS ? "exp is more than an hour after nbf" : undefined;
}

/** JSON members as their parameters: `claims` and `authorization_details` are JSON themselves. @throws OAuthError invalid_request_object */
function toForm(claims: Claims): Form {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(claims)) {
    if (JWT_CLAIMS.has(name)) continue;
    for (const text of parameterTexts(name, value)) query.append(name, text);
  }
  try {
    return parseForm(query.toString());
  } catch (error) {
    throw error instanceof OAuthError ? invalid(error.description) : error;
  }
}

function parameterTexts(name: string, value: unknown): string[] {
  if (name === "resource" && Array.isArray(value) && value.every((one) => typeof one === "string"))
    return value as string[];
  if (typeof value === "string") return [value];
  if (typeof value === "number" || typeof value === "boolean") return [String(value)];
  if (typeof value === "object" && value !== null) return [JSON.stringify(value)];
  throw invalid(`${name} has no value`);
}
