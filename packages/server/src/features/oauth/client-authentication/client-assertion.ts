/**
 * private_key_jwt (OpenID Connect Core §9, RFC 7523 §3): a client proves itself with a short JWT that it signed itself,
 * good once and for us alone. The key comes from the client's registration and from nowhere else.
 */
import type { Form } from "@signet/protocol/form";
import { decodeJwsUnverified, jwsAlgorithms } from "@signet/protocol/jose/jws";
import { OAuthError } from "@signet/protocol/oauth/oauth-error";
import { errors, type JWTVerifyResult, jwtVerify } from "jose";
import type { Application } from "../../../core/applications/application.ts";
import { type ClientKeys, ClientKeysUnavailable } from "../../../core/applications/client-keys.ts";
import { type Clock, seconds } from "../../../core/clock.ts";
import { consumeOnce } from "../../../core/consumed-values.store.ts";
import { issuerOf } from "../../../core/organisations/organisation.ts";
import {
  type ApplicationIssuerDeps,
  issuerOfApplication,
} from "../../../core/signing-pools/application-issuer.ts";
import type { Database } from "../../../db/open.ts";

export interface ClientAssertionDeps extends ApplicationIssuerDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly clientKeys: ClientKeys;
  /** Where the endpoints are that ask for certificates, when that is elsewhere. */
  readonly mtlsBaseUrl: string | undefined;
}

const ASSERTION_TYPE = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
const ALGORITHMS = Object.keys(jwsAlgorithms);
/** Other JWTs that the client signs with the same key (a request object, a DPoP proof) name another type. */
const TYPES: readonly unknown[] = [undefined, "jwt", "client-authentication+jwt"];
/** Headers that offer a key, or a place to find one. */
const KEY_BEARING = ["jwk", "jku", "x5u"];
const MAX_LENGTH = 8_192;
const LONGEST_SECONDS = 600;
/** Between the client's clock and ours. */
const LEEWAY_SECONDS = 30;

/** Why an assertion proves nothing: for the log, never for the answer. */
export class AssertionRefused extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "AssertionRefused";
  }
}

/**
 * The assertion of a request, and the client that it claims to be from; nothing is verified here.
 * @throws OAuthError invalid_request when the parameters contradict each other
 */
export function presentedAssertion(form: Form): { clientId: string; assertion: string } | undefined {
  const assertion = form.values.get("client_assertion");
  const type = form.values.get("client_assertion_type");
  if (assertion === undefined && type === undefined) return undefined;
  if (assertion === undefined || type === undefined)
    throw invalid("client_assertion and client_assertion_type come together");
  if (type !== ASSERTION_TYPE) throw invalid("client_assertion_type is not supported");
  if (form.values.has("client_secret")) throw invalid("the client authenticates in two ways at once");
  const named = form.values.get("client_id");
  const sub = assertion.length <= MAX_LENGTH ? decodeJwsUnverified(assertion)?.payload["sub"] : undefined;
  if (typeof sub !== "string") throw invalid("client_assertion is not a JWT with a sub");
  // RFC 7521 §4.2: client_id is not needed, and if it is there it names the same client.
  if (named !== undefined && named !== sub) throw invalid("client_id differs from the assertion's sub");
  return { clientId: sub, assertion };
}

const invalid = (description: string) => new OAuthError("invalid_request", description);

/** @throws AssertionRefused when the assertion proves nothing, or was seen before */
export async function verifyClientAssertion(
  deps: ClientAssertionDeps,
  application: Application,
  assertion: string,
): Promise<void> {
  const now = deps.clock();
  const { protectedHeader, payload } = await verifySignature(deps, application, assertion, now);
  const offered = KEY_BEARING.find((name) => name in protectedHeader);
  if (offered !== undefined) throw new AssertionRefused(`the header holds ${offered}`);
  if (!isOurType(protectedHeader.typ))
    throw new AssertionRefused("the header's typ names another kind of token");
  const issuer = issuerOf(deps.baseUrl, application.orgId);
  // A client whose tokens a pool signs has found us by the pool's metadata, and names the issuer that it read there.
  const ours = [issuer, `${issuer}/token`, await issuerOfApplication(deps, application)];
  // A client whose tokens are bound to a certificate finds the token endpoint under another name (RFC 8705 §5).
  if (deps.mtlsBaseUrl !== undefined) ours.push(`${issuerOf(deps.mtlsBaseUrl, application.orgId)}/token`);
  const fault = audienceFault(payload.aud, ours) ?? timeFault(payload, seconds(now));
  if (fault !== undefined) throw new AssertionRefused(fault);
  const { jti, exp = 0 } = payload;
  if (typeof jti !== "string" || jti === "" || jti.length > 255) throw new AssertionRefused("jti is missing");
  const first = await consumeOnce(deps.database.query, {
    orgId: application.orgId,
    kind: "client-assertion",
    value: `${application.id}|${jti}`,
    // A NumericDate may have a fraction (RFC 7519 §2), a column of milliseconds has none.
    expiresAt: Math.ceil((exp + LEEWAY_SECONDS) * 1000),
  });
  if (!first) throw new AssertionRefused("the assertion was used before");
}

/** Whoever holds the key writes the header: it may hold anything there. */
const isOurType = (typ: unknown): boolean =>
  TYPES.includes(typeof typ === "string" ? typ.toLowerCase().replace(/^application\//, "") : typ);

async function verifySignature(
  deps: ClientAssertionDeps,
  application: Application,
  assertion: string,
  now: number,
): Promise<JWTVerifyResult> {
  try {
    return await jwtVerify(assertion, deps.clientKeys.lookup(application), {
      algorithms: ALGORITHMS,
      issuer: application.id,
      subject: application.id,
      requiredClaims: ["aud", "exp", "jti"],
      currentDate: new Date(now),
      clockTolerance: LEEWAY_SECONDS,
    });
  } catch (error) {
    if (error instanceof errors.JOSEError || error instanceof ClientKeysUnavailable)
      throw new AssertionRefused(error.message, { cause: error });
    throw error;
  }
}

/** Everybody that the assertion is for must be us: what another server may also accept, that server could send here. */
function audienceFault(aud: string | string[] | undefined, ours: readonly string[]): string | undefined {
  const named = [aud ?? []].flat();
  return named.length > 0 && named.every((one) => ours.includes(one)) ? undefined : "aud is not this issuer";
}

/** `exp` in the past and `nbf` in the future are found with the signature. */
function timeFault({ exp = 0, iat }: { exp?: number; iat?: number }, now: number): string | undefined {
  if (exp > now + LONGEST_SECONDS + LEEWAY_SECONDS) return "exp is more than 10 minutes ahead";
  if (iat === undefined) return undefined;
  if (typeof iat !== "number" || iat > now + LEEWAY_SECONDS) return "iat is in the future";
  return iat > exp ? "iat is after exp" : undefined;
}
