/**
 * private_key_jwt (OpenID Connect Core §9, RFC 7523 §3): the client signs a short-lived, single-use JWT for this issuer. The
 * key comes from the client's registration only.
 */

import type { Form } from "@signet/protocol/form";
import { decodeJwsUnverified, jwsAlgorithms } from "@signet/protocol/jose/jws";
import { OAuthError } from "@signet/protocol/oauth/oauth-error";
import { errors, type JWTVerifyResult, jwtVerify } from "jose";
import type { Application } from "../../../core/applications/application.ts";
import { type ClientKeys, ClientKeysUnavailable } from "../../../core/applications/client-keys.ts";
import { isAlgAllowed, isFapi } from "../../../core/applications/security-profile.ts";
import { seconds } from "../../../core/clock.ts";
import { consumeOnce } from "../../../core/consumed-values.store.ts";
import type { CoreDeps } from "../../../core/core-deps.ts";
import { issuerOf } from "../../../core/organisations/organisation.ts";
import { type ApplicationIssuerDeps, applicationIssuer } from "../../../core/signing-pools/directory.ts";
import {
  consumeTrusted,
  type TrustedDeps,
  UntrustedToken,
  verifyTrusted,
} from "../../../core/trusts/verify-trusted.ts";
import { expectedWorkload } from "../../../core/trusts/workload.ts";

export interface ClientAssertionDeps extends CoreDeps, ApplicationIssuerDeps, TrustedDeps {
  readonly clientKeys: ClientKeys;
  /** The base URL of the mTLS endpoints, when it differs. */
  readonly mtlsBaseUrl: string | undefined;
}

const ASSERTION_TYPE = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
const ALGORITHMS = Object.keys(jwsAlgorithms);
/** Other JWTs signed with the same key, such as request objects and DPoP proofs, have another type. */
const TYPES: readonly unknown[] = [undefined, "jwt", "client-authentication+jwt"];
/** Headers that carry or reference a key. */
const KEY_HEADERS = ["jwk", "jku", "x5u"];
const MAX_LENGTH = 8_192;
/** Libraries sign for up to an hour; `jti` is kept until then. */
const MAX_LIFETIME_SECONDS = 3_600;
const LEEWAY_SECONDS = 30;

/** The message is for the log, never for the response. */
export class InvalidAssertion extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "InvalidAssertion";
  }
}

export interface PresentedAssertion {
  readonly clientId: string;
  readonly assertion: string;
  /** Nobody has verified it. */
  readonly subject: string;
}

/**
 * Reads the assertion and the client that it names; verifies nothing.
 * @throws OAuthError invalid_request when the parameters contradict each other
 * @throws InvalidAssertion when the assertion names no client (RFC 7521 §4.2.1: invalid_client)
 */
export function readAssertion(form: Form): PresentedAssertion | undefined {
  const assertion = form.values.get("client_assertion");
  const type = form.values.get("client_assertion_type");
  if (assertion === undefined && type === undefined) return undefined;
  if (assertion === undefined || type === undefined)
    throw invalid("client_assertion and client_assertion_type must be sent together");
  if (type !== ASSERTION_TYPE) throw invalid("client_assertion_type is not supported");
  if (form.values.has("client_secret")) throw invalid("the client uses more than one authentication method");
  const named = form.values.get("client_id");
  const sub = assertion.length <= MAX_LENGTH ? decodeJwsUnverified(assertion)?.payload["sub"] : undefined;
  if (typeof sub !== "string") throw new InvalidAssertion("client_assertion is not a JWT with a sub");
  return { clientId: named ?? sub, assertion, subject: sub };
}

/**
 * RFC 7521 §4.2: client_id is optional, and must name the same client. Only the workloads of a client without keys are named
 * otherwise, by their own issuer.
 * @throws OAuthError invalid_request
 */
export function requireSameClient(application: Application, subject: string): void {
  if (subject !== application.id && !isWithoutKeys(application))
    throw invalid("client_id differs from the assertion's sub");
}

const isWithoutKeys = ({ settings }: Application): boolean =>
  settings.tokenEndpointAuthMethod === "private_key_jwt" &&
  settings.jwks === undefined &&
  settings.jwksUri === undefined;

const invalid = (description: string) => new OAuthError("invalid_request", description);

/**
 * @param endpoint where the assertion was sent: below the issuer, e.g. `/revoke`
 * @throws InvalidAssertion, also when the assertion was used before
 */
export async function verifyClientAssertion(
  deps: ClientAssertionDeps,
  application: Application,
  assertion: string,
  endpoint: string,
): Promise<void> {
  if (isWithoutKeys(application)) return verifyWorkload(deps, application, assertion);
  const now = deps.clock();
  const { protectedHeader, payload } = await verifySignature(deps, application, assertion, now);
  const keyHeader = KEY_HEADERS.find((name) => name in protectedHeader);
  if (keyHeader !== undefined) throw new InvalidAssertion(`the header contains ${keyHeader}`);
  if (!isAssertionType(protectedHeader.typ))
    throw new InvalidAssertion("the header's typ names another type of token");
  const audiences = await acceptedAudiences(deps, application, endpoint);
  const isListed = isFapi(application.settings) && typeof payload.aud !== "string";
  const problem = isListed
    ? "aud is a list"
    : (findAudienceProblem(payload.aud, audiences) ?? findTimeProblem(payload, seconds(now)));
  if (problem !== undefined) throw new InvalidAssertion(problem);
  const { jti, exp = 0 } = payload;
  if (typeof jti !== "string" || jti === "" || jti.length > 255) throw new InvalidAssertion("jti is missing");
  const first = await consumeOnce(deps.database.query, {
    orgId: application.orgId,
    kind: "client-assertion",
    value: `${application.id}|${jti}`,
    // Longer than it is good: the nodes' clocks may differ. A NumericDate may have a fraction (RFC 7519 §2), the column has none.
    expiresAt: Math.ceil((exp + LEEWAY_SECONDS) * 1000),
  });
  if (!first) throw new InvalidAssertion("the assertion was used before");
}

/** A workload that a trust says is the client (modern-oauth.md §5, "Use"). @throws InvalidAssertion */
async function verifyWorkload(
  deps: ClientAssertionDeps,
  application: Application,
  assertion: string,
): Promise<void> {
  try {
    const token = await verifyTrusted(deps, assertion, await expectedWorkload(deps, application));
    if (!(await consumeTrusted(deps.database.query, token)))
      throw new InvalidAssertion("the assertion was used before");
  } catch (error) {
    throw error instanceof UntrustedToken ? new InvalidAssertion(error.message, { cause: error }) : error;
  }
}

/** The issuer, the token endpoint (OpenID Connect Core §9), and the endpoint that was called, as libraries name it. */
async function acceptedAudiences(
  deps: ClientAssertionDeps,
  application: Application,
  endpoint: string,
): Promise<string[]> {
  const issuer = issuerOf(deps.baseUrl, application.orgId);
  const issuers = [
    issuer,
    // A client of a signing pool may have discovered the endpoints in the metadata of the pool's issuer.
    await applicationIssuer(deps, application),
  ];
  // FAPI 2.0 SP §5.3.2.1: the issuer alone.
  if (isFapi(application.settings)) return issuers;
  // RFC 8705 §5: clients with certificates use the mTLS aliases of the endpoints.
  const bases =
    deps.mtlsBaseUrl === undefined ? [issuer] : [issuer, issuerOf(deps.mtlsBaseUrl, application.orgId)];
  return [...issuers, ...bases.flatMap((base) => [`${base}/token`, `${base}${endpoint}`])];
}

/** The client controls the header: typ may be any JSON value. */
const isAssertionType = (typ: unknown): boolean =>
  TYPES.includes(typeof typ === "string" ? typ.toLowerCase().replace(/^application\//, "") : typ);

async function verifySignature(
  deps: ClientAssertionDeps,
  application: Application,
  assertion: string,
  now: number,
): Promise<JWTVerifyResult> {
  try {
    return await jwtVerify(assertion, deps.clientKeys.lookup(application), {
      algorithms: ALGORITHMS.filter((alg) => isAlgAllowed(application.settings, alg)),
      issuer: application.id,
      subject: application.id,
      requiredClaims: ["aud", "exp", "jti"],
      currentDate: new Date(now),
      clockTolerance: LEEWAY_SECONDS,
    });
  } catch (error) {
    if (error instanceof errors.JOSEError || error instanceof ClientKeysUnavailable)
      throw new InvalidAssertion(error.message, { cause: error });
    throw error;
  }
}

/** Every audience must be this issuer: another server that accepts the assertion could replay it here. */
function findAudienceProblem(
  aud: string | string[] | undefined,
  allowed: readonly string[],
): string | undefined {
  const audiences = [aud ?? []].flat();
  const isOurs = audiences.length > 0 && audiences.every((one) => allowed.includes(one));
  return isOurs ? undefined : "aud is not this issuer";
}

/** jose has checked that `exp` is a number, and `nbf`: clocks may differ there, and no token outlives its `exp`. */
function findTimeProblem({ exp = 0, iat }: { exp?: number; iat?: number }, now: number): string | undefined {
  if (exp <= now) return "it has expired";
  if (exp > now + MAX_LIFETIME_SECONDS + LEEWAY_SECONDS) return "exp is more than an hour ahead";
  if (iat === undefined) return undefined;
  if (typeof iat !== "number" || iat > now + LEEWAY_SECONDS) return "iat is in the future";
  return iat > exp ? "iat is after exp" : undefined;
}
