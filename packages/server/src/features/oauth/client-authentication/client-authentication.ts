/**
 * Client authentication for the token, revoke, introspect and device endpoints (RFC 6749 §2.3): first the client that the
 * request names, then the proof, by the client's registered method. A secret may come in the header or in the body.
 */
import type { Form } from "@signet/protocol/form";
import { parseBasicCredentials } from "@signet/protocol/oauth/authorization-header";
import { OAuthError } from "@signet/protocol/oauth/oauth-error";
import {
  type Application,
  type ClientSecret,
  isAttestationMethod,
  isSecretMethod,
  type TokenEndpointAuthMethod,
} from "../../../core/applications/application.ts";
import type { ApplicationDirectory } from "../../../core/applications/applications.ts";
import { matchClientSecret } from "../../../core/applications/client-secrets.ts";
import { noteCaller } from "../../../core/audit/audited-request.ts";
import { recordOnce } from "../../../core/audit/unauthenticated-events.ts";
import type { Clock } from "../../../core/clock.ts";
import type { PresentedDeviceDeps } from "../../../core/devices/presented-device.ts";
import type { Organisation } from "../../../core/organisations/organisation.ts";
import type { RefusalReason } from "../../../core/refused-requests/refused-request.ts";
import type { RefusedRequests } from "../../../core/refused-requests/refused-requests.ts";
import type { Call } from "../../../http/calls/call.ts";
import { addressOf } from "../../../http/listeners/client-address.ts";
import {
  type ClientAssertionDeps,
  InvalidAssertion,
  readAssertion,
  requireSameClient,
  verifyClientAssertion,
} from "./client-assertion.ts";
import { attestedClientId, attestingDevice } from "./client-attestation.ts";
import {
  type AuthenticatedCertificate,
  authenticatingCertificate,
  selfSignedRefusal,
} from "./client-device.ts";
import { findNamedClient, type NamedClientDeps } from "./named-client.ts";

export interface ClientAuthenticationDeps extends ClientAssertionDeps, PresentedDeviceDeps, NamedClientDeps {
  readonly applications: ApplicationDirectory;
  readonly clock: Clock;
  readonly refusedRequests: Pick<RefusedRequests, "watch">;
  /** Stored some time later: a token request costs no write for it. */
  recordSecretUse(application: Application, secret: ClientSecret): void;
}

interface Credentials {
  readonly method: TokenEndpointAuthMethod;
  readonly clientId: string;
  readonly clientSecret?: string;
  readonly assertion?: string;
  /** Of the assertion, as it says. */
  readonly subject?: string;
}

export interface AuthenticatedClient {
  readonly application: Application;
  /** What authenticated the client by tls_client_auth, or vouched for it; undefined for every other method. */
  readonly certificate?: AuthenticatedCertificate;
}

/** A client that the request names; nothing is proven yet. */
export interface IdentifiedClient {
  readonly application: Application;
  readonly credentials: Credentials;
}

/** @throws OAuthError invalid_client, or invalid_request when the request contradicts itself */
export async function identifyClient(
  deps: NamedClientDeps,
  organisation: Organisation,
  { headers, form, raw }: Pick<Call, "headers" | "form" | "raw">,
): Promise<IdentifiedClient> {
  const { authorization } = headers;
  const credentials =
    authorization === undefined
      ? bodyCredentials(form, organisation, attestedClientId({ headers }))
      : headerCredentials(authorization, form, organisation);
  const { clientId } = credentials;
  const application = await findNamedClient(deps, organisation.id, clientId, { raw });
  if (typeof application === "string") throw invalidClient(organisation, application);
  if (credentials.subject !== undefined) requireSameClient(application, credentials.subject);
  noteCaller(organisation.id, application.id);
  return { application, credentials };
}

/** Audits a failure, at most once a minute for each application. @throws OAuthError invalid_client */
export async function authenticateClient(
  deps: ClientAuthenticationDeps,
  organisation: Organisation,
  call: Call,
  client: IdentifiedClient,
): Promise<AuthenticatedClient> {
  try {
    return await verifyCredentials(deps, organisation, call, client);
  } catch (error) {
    if (error instanceof OAuthError && error.code === "invalid_client")
      await recordFailure(deps, call, client.application, String(error.cause));
    throw error;
  }
}

const recordFailure = (
  deps: ClientAuthenticationDeps,
  call: Call,
  { orgId, id }: Application,
  reason: string,
): Promise<void> =>
  recordOnce(deps, { orgId, subject: `client-authentication|${id}` }, () => ({
    actor: "anonymous",
    action: "application.refused",
    target: id,
    address: addressOf(call),
    details: { reason },
  }));

async function verifyCredentials(
  deps: ClientAuthenticationDeps,
  organisation: Organisation,
  call: Call,
  { application, credentials }: IdentifiedClient,
): Promise<AuthenticatedClient> {
  const refused = (cause: string, reason: RefusalReason) => invalidClient(organisation, cause, { reason });
  const { clientSecret, assertion, method } = credentials;
  const registered = application.settings.tokenEndpointAuthMethod;
  // RFC 8705 §2: with a certificate, the request carries client_id and no other credentials.
  if (registered === "tls_client_auth" && method === "none") {
    const certificate = await authenticatingCertificate(deps, application, call);
    if (typeof certificate === "string") throw refused(certificate, "certificate-invalid");
    return { application, certificate };
  }
  if (isAttestationMethod(registered) && method === "none") {
    const device = await attestingDevice(deps, organisation, application, call);
    if (typeof device === "string") throw refused(device, "attestation-invalid");
    return { application, certificate: { kind: "attested", device } };
  }
  if (registered === "self_signed_tls_client_auth" && method === "none") {
    const refusal = await selfSignedRefusal(deps.clientKeys, application, call);
    if (refusal !== undefined) throw refused(refusal, "certificate-invalid");
    return { application };
  }
  if (!isMethodAllowed(registered, method))
    throw refused(`the client may not use ${method}`, "authentication-method");
  if (assertion !== undefined) {
    const endpoint = call.route.replace("/oauth/:org", "");
    await verifyClientAssertion(deps, application, assertion, endpoint).catch((error: unknown) => {
      throw error instanceof InvalidAssertion ? refused(error.message, "assertion-invalid") : error;
    });
    return { application };
  }
  if (clientSecret === undefined) return { application };
  const secret =
    matchClientSecret(application, clientSecret, deps.clock()) ??
    (await findNewSecret(deps, application, clientSecret));
  if (!secret) throw refused("no active secret matches", "secret-wrong");
  deps.recordSecretUse(application, secret);
  return { application };
}

/** A secret may be used before the change feed has told this node of it. */
async function findNewSecret(
  { applications, clock }: ClientAuthenticationDeps,
  { orgId, id }: Application,
  presented: string,
): Promise<ClientSecret | undefined> {
  const current = await applications.read(orgId, id);
  return current && matchClientSecret(current, presented, clock());
}

/** Both secret methods accept a secret in either place; every other method must match exactly. */
function isMethodAllowed(registered: TokenEndpointAuthMethod, used: TokenEndpointAuthMethod): boolean {
  return registered === used || (isSecretMethod(registered) && isSecretMethod(used));
}

function headerCredentials(authorization: string, form: Form, organisation: Organisation): Credentials {
  if (form.values.has("client_secret") || form.values.has("client_assertion")) {
    throw new OAuthError("invalid_request", "the client uses more than one authentication method");
  }
  const credentials = parseBasicCredentials(authorization);
  // An unknown scheme or a malformed header: the challenge names the scheme that works.
  if (!credentials)
    throw invalidClient(organisation, "not a Basic header", {
      description: "the Authorization header is malformed",
    });
  const named = form.values.get("client_id");
  if (named !== undefined && named !== credentials.clientId) {
    throw new OAuthError("invalid_request", "client_id differs from the Authorization header");
  }
  return { method: "client_secret_basic", ...credentials };
}

/** @param attested the client of an attestation: with one, `client_id` may be left out */
function bodyCredentials(form: Form, organisation: Organisation, attested: string | undefined): Credentials {
  const presented = presentedAssertion(form, organisation);
  if (presented) return { method: "private_key_jwt", ...presented };
  const clientId = form.values.get("client_id") ?? attested;
  const clientSecret = form.values.get("client_secret");
  if (clientId === undefined)
    throw invalidClient(organisation, "no client_id", { description: "client_id is missing" });
  return clientSecret === undefined
    ? { method: "none", clientId }
    : { method: "client_secret_post", clientId, clientSecret };
}

function presentedAssertion(form: Form, organisation: Organisation): ReturnType<typeof readAssertion> {
  try {
    return readAssertion(form);
  } catch (error) {
    throw error instanceof InvalidAssertion ? invalidClient(organisation, error.message) : error;
  }
}

/** One response for an unknown, disabled or foreign client and a wrong secret; the cause is for the log. */
export function invalidClient(
  organisation: Organisation,
  cause: string,
  options: { readonly description?: string; readonly reason?: RefusalReason } = {},
): OAuthError {
  const { description = "client authentication failed", reason } = options;
  // RFC 9110 §15.5.2: every 401 has a challenge, also when no Authorization header was sent (RFC 6749 §5.2).
  return new OAuthError("invalid_client", description, {
    cause,
    ...(reason === undefined ? {} : { reason }),
    wwwAuthenticate: `Basic realm="${organisation.id}"`,
  });
}
