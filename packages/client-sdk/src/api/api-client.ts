/** Client for API v1, with access tokens. */
import { isUuid } from "../configuration/properties.ts";
import { configurationError, SignetError } from "../errors.ts";
import type { GrantConfiguration, GrantOptions } from "../grants/grant-settings.ts";
import { clientCredentials, type TokenSource } from "../grants/token-source.ts";
import { createServiceClient, type ServiceOptions } from "../service-api/service-client.ts";
import { serviceSettings } from "../service-api/service-settings.ts";
import {
  type CallOptions,
  type ItemList,
  type ListOptions,
  typedClient,
  type UntypedClient,
} from "../service-api/typed-client.ts";
import { ifMatch, repeatable } from "../service-api/versions.ts";
import type { ApiAnswer, ApiInput, ApiItem, ApiListRoute, ApiRoute } from "./api-types.ts";
import {
  type ApiActs,
  type ApiChanges,
  type ApiCreates,
  type ApiDeletes,
  type ApiReads,
  recordMethods,
} from "./record-methods.ts";

/** Options of `apiClient`. */
export interface ApiClientOptions extends ServiceOptions, Pick<GrantOptions, "clientAuthentication"> {
  /** An access token, or a source of them. Default: client credentials of the configuration's application. */
  readonly tokens?: string | Pick<TokenSource, "token" | "discard">;
  /** Whose records are asked for; operators may name any organisation. Default: `oauthOrganisationId`. */
  readonly organisation?: string;
}

/** What `apiClient` returns. */
export interface ApiClient {
  readonly users: ApiReads<"users"> &
    ApiCreates<"users"> &
    ApiChanges<"users"> &
    ApiDeletes &
    ApiActs<"users">;
  readonly invitations: ApiReads<"invitations"> &
    ApiCreates<"invitations"> &
    ApiDeletes &
    ApiActs<"invitations">;
  readonly signUps: ApiReads<"sign-ups"> & ApiActs<"sign-ups">;
  readonly groups: ApiReads<"groups"> &
    ApiCreates<"groups"> &
    ApiChanges<"groups"> &
    ApiDeletes &
    ApiActs<"groups">;
  readonly roles: ApiReads<"roles"> & ApiCreates<"roles"> & ApiChanges<"roles"> & ApiDeletes;
  readonly assignments: ApiReads<"assignments"> & ApiCreates<"assignments"> & ApiDeletes;
  readonly applications: ApiReads<"applications"> &
    ApiCreates<"applications"> &
    ApiChanges<"applications"> &
    ApiDeletes &
    ApiActs<"applications">;
  readonly scopes: ApiReads<"scopes"> & ApiCreates<"scopes"> & ApiChanges<"scopes"> & ApiDeletes;
  readonly clientCertificateAuthorities: ApiReads<"client-certificate-authorities"> &
    ApiCreates<"client-certificate-authorities"> &
    ApiChanges<"client-certificate-authorities"> &
    ApiDeletes;
  readonly consents: ApiReads<"consents"> & ApiCreates<"consents"> & ApiDeletes;
  readonly preauthorizations: ApiReads<"preauthorizations"> & ApiCreates<"preauthorizations"> & ApiDeletes;
  readonly systemAccounts: ApiReads<"system-accounts"> &
    ApiCreates<"system-accounts"> &
    ApiChanges<"system-accounts"> &
    ApiDeletes &
    ApiActs<"system-accounts">;
  readonly connections: ApiReads<"connections"> &
    ApiCreates<"connections"> &
    ApiChanges<"connections"> &
    ApiDeletes &
    ApiActs<"connections">;
  readonly domains: ApiReads<"domains"> &
    ApiCreates<"domains"> &
    ApiChanges<"domains"> &
    ApiDeletes &
    ApiActs<"domains">;
  /** One-time links with which a tenant's own administrator sets up connections; `url` is in the answer of `create` alone. */
  readonly portalLinks: ApiReads<"portal-links"> & ApiCreates<"portal-links"> & ApiDeletes;
  readonly webhooks: ApiReads<"webhooks"> &
    ApiCreates<"webhooks"> &
    ApiChanges<"webhooks"> &
    ApiDeletes &
    ApiActs<"webhooks">;
  readonly devices: ApiReads<"devices"> & ApiActs<"devices">;
  readonly enrollmentCodes: ApiReads<"enrollment-codes"> &
    ApiCreates<"enrollment-codes"> &
    ApiActs<"enrollment-codes">;
  readonly pools: ApiReads<"pools"> & ApiCreates<"pools"> & ApiChanges<"pools"> & ApiDeletes;
  readonly agents: ApiReads<"agents"> & ApiCreates<"agents"> & ApiActs<"agents">;
  /** Any operation of the API by its method and path. */
  call<Route extends ApiRoute>(
    route: Route,
    input: ApiInput<Route>,
    options?: CallOptions,
  ): Promise<ApiAnswer<Route>>;
  /** Any operation that lists. Nothing is requested before the list is read. */
  list<Route extends ApiListRoute>(
    route: Route,
    input: ApiInput<Route>,
    options?: ListOptions,
  ): ItemList<ApiItem<Route>>;
}

/**
 * Creates a client of API v1. It gets its access tokens itself, by client credentials, with `oauthScopes` for this API alone, renews
 * them, and gets another when one is rejected. All calls are idempotent (those that create something have an `Idempotency-Key`) and
 * are tried up to three times if the service is unavailable.
 *
 * Refused calls throw `SignetError` with code `provider_refused` and a `problem`: `apiErrorCode(error)` is its stable code.
 * @param configuration `federationServer`, `oauthOrganisationId`, `applicationId`, `oauthClientSecret` and `oauthScopes`; with
 * `options.tokens`, the first two alone
 * @throws SignetError `configuration`
 * @example
 * const api = apiClient({ ...configurationFromEnvironment(process.env), oauthScopes: "signet:users:write" });
 * for await (const user of api.users.list({ filter: 'state eq "active"' })) console.log(user.email);
 * await api.users.act(id, "disable");
 */
export function apiClient(configuration: GrantConfiguration, options: ApiClientOptions = {}): ApiClient {
  const { federationServer, environment } = serviceSettings(addressOf(configuration), { isSigned: false });
  const { oauthOrganisationId = configuration.organisationId } = configuration;
  const organisation = (options.organisation ?? oauthOrganisationId ?? "").toLowerCase();
  if (!isUuid(organisation))
    throw configurationError("oauthOrganisationId must be the organisation's id, a UUID.");
  const tokens = tokensOf(configuration, options, `${federationServer}/api/v1`);
  const service = createServiceClient({ federationServer, environment, tokens }, options);
  const client = inOrganisation(typedClient<never>(service) as unknown as UntypedClient, organisation);
  const of = (name: string) => recordMethods(client, name);
  const records = {
    ...{
      users: of("users"),
      invitations: of("invitations"),
      signUps: of("sign-ups"),
      groups: of("groups"),
      roles: of("roles"),
      assignments: of("assignments"),
    },
    ...{ applications: of("applications"), scopes: of("scopes"), consents: of("consents") },
    ...{ preauthorizations: of("preauthorizations"), systemAccounts: of("system-accounts") },
    ...{ connections: of("connections"), domains: of("domains"), devices: of("devices") },
    ...{ enrollmentCodes: of("enrollment-codes"), pools: of("pools"), agents: of("agents") },
    clientCertificateAuthorities: of("client-certificate-authorities"),
    ...{ portalLinks: of("portal-links"), webhooks: of("webhooks") },
  };
  return { ...records, ...anyOperation(client) } as unknown as ApiClient;
}

const addressOf = ({ federationServer, environment }: GrantConfiguration) => ({
  ...(federationServer === undefined ? {} : { federationServer }),
  ...(environment === undefined ? {} : { environment }),
});

function tokensOf(
  configuration: GrantConfiguration,
  { tokens, clientAuthentication, fetch, clock }: ApiClientOptions,
  resource: string,
): Pick<TokenSource, "token" | "discard"> {
  if (typeof tokens === "string") return { token: async () => tokens, discard: () => {} };
  if (tokens) return tokens;
  return clientCredentials(configuration, {
    resource,
    ...(clientAuthentication ? { clientAuthentication } : {}),
    ...(fetch ? { fetch } : {}),
    ...(clock ? { clock } : {}),
  });
}

type Input = Parameters<UntypedClient["send"]>[1];

/** Calls that name no organisation are about the client's. */
function inOrganisation({ send, list }: UntypedClient, org: string): UntypedClient {
  const named = (input: Input): Input => ({ ...input, path: { org, ...input.path } });
  return {
    send: (route, input, options) => send(route, named(input), options),
    list: (route, input, options) => list(route, named(input), options),
  };
}

function anyOperation({ send, list }: UntypedClient) {
  const parts = (route: string, input: Record<string, unknown>): Input => {
    const { path, query, body, etag, idempotencyKey } = input as Input & {
      readonly etag?: string;
      readonly idempotencyKey?: string;
    };
    const isPost = route.startsWith("POST ");
    const key = isPost
      ? repeatable({ ...(idempotencyKey === undefined ? {} : { idempotencyKey }) }).headers
      : {};
    return { path, query, body, headers: { ...key, ...ifMatch(etag) } };
  };
  return {
    call: async (route: string, input: Record<string, unknown>, options?: CallOptions) =>
      (await send(route, parts(route, input), options)).body,
    list: (route: string, input: Record<string, unknown>, options?: ListOptions) =>
      list(route, parts(route, input), options),
  };
}

/** Stable codes of refused calls. */
export type ApiErrorCode = (typeof apiErrorCodes)[number];

/** In the order of their statuses. */
export const apiErrorCodes = [
  ...(["malformed", "not-authenticated", "exceeds-caller", "insufficient-scope", "not-found"] as const),
  ...([
    "built-in",
    "conflict",
    "foreign-account",
    "foreign-application",
    "group-cycle",
    "group-depth",
  ] as const),
  ...(["implied-permission", "last-administrator", "own-application", "public-client"] as const),
  ...(["read-only-source", "under-way", "stale", "invalid", "key-reused", "rate-limited"] as const),
  ...(["too-large", "unsupported-media-type", "headers-too-large", "mail-not-set-up"] as const),
] as const;

/** The code of a call that was refused; undefined for any other error, and for a code that this version does not know. */
export function apiErrorCode(error: unknown): ApiErrorCode | undefined {
  const code = error instanceof SignetError ? error.problem?.code : undefined;
  return apiErrorCodes.find((known) => known === code);
}
