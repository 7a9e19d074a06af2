/**
 * Which client speaks, and the proof of it (RFC 6749 §2.3): the same for token, revoke and introspect. The client's
 * registered method decides whether it has a secret; the secret may come in the header or in the body, not in both.
 */

import type { Form } from "@signet/protocol/form";
import { isUuid } from "@signet/protocol/hash";
import { parseBasicCredentials } from "@signet/protocol/oauth/basic-credentials";
import { OAuthError } from "@signet/protocol/oauth/oauth-error";
import type { FastifyRequest } from "fastify";
import {
  type Application,
  type ClientSecret,
  isSecretMethod,
  type TokenEndpointAuthMethod,
} from "../../../core/applications/application.ts";
import type { ApplicationDirectory } from "../../../core/applications/applications.ts";
import { matchClientSecret } from "../../../core/applications/client-secrets.ts";
import { recordOnce } from "../../../core/audit/unauthenticated-events.ts";
import type { Clock } from "../../../core/clock.ts";
import type { CertifiedDevice } from "../../../core/devices/devices.store.ts";
import type { PresentedDeviceDeps } from "../../../core/devices/presented-device.ts";
import type { Organisation } from "../../../core/organisations/organisation.ts";
import { addressOf } from "../../../http/listeners/client-address.ts";
import {
  AssertionRefused,
  type ClientAssertionDeps,
  presentedAssertion,
  verifyClientAssertion,
} from "./client-assertion.ts";
import { authenticatingDevice } from "./client-device.ts";

export interface ClientAuthenticationDeps extends ClientAssertionDeps, PresentedDeviceDeps {
  readonly applications: ApplicationDirectory;
  readonly clock: Clock;
  /** Remembers, some time later, when a secret was used last. */
  noteSecretUse(application: Application, secret: ClientSecret): void;
}

interface Credentials {
  readonly method: TokenEndpointAuthMethod;
  readonly clientId: string;
  readonly clientSecret?: string;
  readonly assertion?: string;
}

export interface AuthenticatedClient {
  readonly application: Application;
  /** Whose certificate has proven it; undefined for every other method. */
  readonly device?: CertifiedDevice;
}

/** A client of the organisation that speaks, whoever it is: nothing is proven yet. */
export interface NamedClient {
  readonly application: Application;
  readonly credentials: Credentials;
}

/** @throws OAuthError invalid_client, or invalid_request when the request contradicts itself */
export async function authenticateClient(
  deps: ClientAuthenticationDeps,
  organisation: Organisation,
  request: FastifyRequest,
  form: Form,
): Promise<AuthenticatedClient> {
  return proveClient(deps, organisation, request, await nameClient(deps, organisation, request, form));
}

/** Whom the request speaks for. @throws OAuthError as `authenticateClient` does */
export async function nameClient(
  deps: Pick<ClientAuthenticationDeps, "applications">,
  organisation: Organisation,
  request: FastifyRequest,
  form: Form,
): Promise<NamedClient> {
  const credentials =
    request.headers.authorization === undefined
      ? bodyCredentials(form, organisation)
      : headerCredentials(request, form, organisation);
  const { clientId } = credentials;
  const application = isUuid(clientId) ? await deps.applications.find(organisation.id, clientId) : undefined;
  if (!application) throw invalidClient(organisation, "unknown client");
  return { application, credentials };
}

/** That it is who it says; audited once a minute for each application when it is not. @throws OAuthError as `authenticateClient` does */
export async function proveClient(
  deps: ClientAuthenticationDeps,
  organisation: Organisation,
  request: FastifyRequest,
  client: NamedClient,
): Promise<AuthenticatedClient> {
  try {
    return await provenClient(deps, organisation, request, client);
  } catch (error) {
    if (error instanceof OAuthError && error.code === "invalid_client")
      await recordRefusal(deps, request, client.application, String(error.cause));
    throw error;
  }
}

const recordRefusal = (
  deps: ClientAuthenticationDeps,
  request: FastifyRequest,
  { orgId, id }: Application,
  reason: string,
): Promise<void> =>
  recordOnce(deps, { orgId, subject: `client-authentication|${id}` }, () => ({
    actor: "anonymous",
    action: "application.refused",
    target: id,
    address: addressOf(request),
    details: { reason },
  }));

async function provenClient(
  deps: ClientAuthenticationDeps,
  organisation: Organisation,
  request: FastifyRequest,
  { application, credentials }: NamedClient,
): Promise<AuthenticatedClient> {
  const refused = (cause: string) => invalidClient(organisation, cause);
  const { clientSecret, assertion, method } = credentials;
  const registered = application.settings.tokenEndpointAuthMethod;
  // RFC 8705 §2: beside the certificate the request says who the client is, and nothing more.
  if (registered === "tls_client_auth" && method === "none") {
    const device = await authenticatingDevice(deps, application, request);
    if (typeof device === "string") throw refused(device);
    return { application, device };
  }
  if (!isAllowed(registered, method)) throw refused(`the client may not use ${method}`);
  if (assertion !== undefined) {
    await verifyClientAssertion(deps, application, assertion).catch((error: unknown) => {
      throw error instanceof AssertionRefused ? refused(error.message) : error;
    });
    return { application };
  }
  if (clientSecret === undefined) return { application };
  const secret =
    matchClientSecret(application, clientSecret, deps.clock()) ??
    (await newSecret(deps, application, clientSecret));
  if (!secret) throw refused("no active secret matches");
  deps.noteSecretUse(application, secret);
  return { application };
}

/** The news of a new secret may still be on its way to this node, and whoever has it uses it at once. */
async function newSecret(
  { applications, clock }: ClientAuthenticationDeps,
  { orgId, id }: Application,
  presented: string,
): Promise<ClientSecret | undefined> {
  const current = await applications.read(orgId, id);
  return current && matchClientSecret(current, presented, clock());
}

/** A secret is a secret in either place; every other method stands for itself alone. */
function isAllowed(registered: TokenEndpointAuthMethod, used: TokenEndpointAuthMethod): boolean {
  return registered === used || (isSecretMethod(registered) && isSecretMethod(used));
}

function headerCredentials(request: FastifyRequest, form: Form, organisation: Organisation): Credentials {
  if (form.values.has("client_secret") || form.values.has("client_assertion")) {
    throw new OAuthError("invalid_request", "the client authenticates in two ways at once");
  }
  const credentials = parseBasicCredentials(request.headers.authorization ?? "");
  // A scheme we do not know, or nonsense: the challenge says what would work.
  if (!credentials)
    throw invalidClient(organisation, "not a Basic header", "the Authorization header is malformed");
  const named = form.values.get("client_id");
  if (named !== undefined && named !== credentials.clientId) {
    throw new OAuthError("invalid_request", "client_id differs from the Authorization header");
  }
  return { method: "client_secret_basic", ...credentials };
}

function bodyCredentials(form: Form, organisation: Organisation): Credentials {
  const presented = presentedAssertion(form);
  if (presented) return { method: "private_key_jwt", ...presented };
  const clientId = form.values.get("client_id");
  const clientSecret = form.values.get("client_secret");
  if (clientId === undefined)
    throw invalidClient(organisation, "no client_id", "the client does not say who it is");
  return clientSecret === undefined
    ? { method: "none", clientId }
    : { method: "client_secret_post", clientId, clientSecret };
}

/** One answer for unknown, disabled, foreign and wrong: the cause is for the log. */
export function invalidClient(
  organisation: Organisation,
  cause: string,
  description = "client authentication failed",
): OAuthError {
  // RFC 9110 §15.5.2: every 401 has a challenge, not only the one for a header that failed (RFC 6749 §5.2).
  return new OAuthError("invalid_client", description, {
    cause,
    wwwAuthenticate: `Basic realm="${organisation.id}"`,
  });
}
