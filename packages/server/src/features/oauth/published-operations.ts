/** The documents that an issuer publishes, for /openapi.json. */
import Type from "typebox";
import { type DescribedOperation, problemAnswers } from "../../http/api/described-operation.ts";

const list = (description?: string) =>
  Type.Array(Type.String(), description === undefined ? {} : { description });
const address = Type.String({ format: "uri" });

const metadata = Type.Object(
  {
    issuer: address,
    authorization_endpoint: address,
    token_endpoint: address,
    userinfo_endpoint: address,
    jwks_uri: address,
    revocation_endpoint: address,
    introspection_endpoint: address,
    end_session_endpoint: address,
    device_authorization_endpoint: address,
    scopes_supported: list("custom scopes of the organisation included"),
    response_types_supported: list(),
    response_modes_supported: list(),
    grant_types_supported: list(),
    subject_types_supported: list(),
    id_token_signing_alg_values_supported: list(),
    token_endpoint_auth_methods_supported: list(),
    revocation_endpoint_auth_methods_supported: list(),
    introspection_endpoint_auth_methods_supported: list(),
    token_endpoint_auth_signing_alg_values_supported: list(),
    revocation_endpoint_auth_signing_alg_values_supported: list(),
    introspection_endpoint_auth_signing_alg_values_supported: list(),
    code_challenge_methods_supported: list(),
    prompt_values_supported: list(),
    acr_values_supported: list(),
    claim_types_supported: list(),
    claims_supported: list(),
    claims_parameter_supported: Type.Boolean(),
    request_parameter_supported: Type.Boolean(),
    request_uri_parameter_supported: Type.Boolean(),
    authorization_response_iss_parameter_supported: Type.Boolean(),
    backchannel_logout_supported: Type.Boolean(),
    backchannel_logout_session_supported: Type.Boolean(),
    ui_locales_supported: list(),
    tls_client_certificate_bound_access_tokens: Type.Optional(
      Type.Boolean({ description: "where a listener asks for certificates (RFC 8705)" }),
    ),
    mtls_endpoint_aliases: Type.Optional(
      Type.Object(
        {
          token_endpoint: address,
          userinfo_endpoint: address,
          revocation_endpoint: address,
          introspection_endpoint: address,
          device_authorization_endpoint: address,
        },
        { description: "where a client with a certificate calls them (RFC 8705 §5)" },
      ),
    ),
  },
  { title: "ProviderMetadata" },
);

const text = Type.Optional(Type.String());

const jwks = Type.Object(
  {
    keys: Type.Array(
      Type.Object({
        kty: Type.String({ examples: ["EC"] }),
        kid: Type.String(),
        use: Type.Literal("sig"),
        alg: Type.String({ examples: ["ES256"] }),
        crv: text,
        x: text,
        y: text,
        n: text,
        e: text,
        x5c: Type.Optional(Type.Array(Type.String(), { description: "of agents' keys, when there are any" })),
        "x5t#S256": text,
      }),
    ),
  },
  { title: "JsonWebKeySet" },
);

const shared = {
  method: "GET",
  tag: "OAuth",
  security: [],
  headers: { "If-None-Match": "the `ETag` that the caller has" },
} as const;

const headers = { ETag: "changes with the document", "Cache-Control": "how long it may be kept" };

const answers = (description: string, schema: typeof metadata | typeof jwks) => ({
  200: { description, schema, headers },
  304: { description: "It is as the caller has it" },
  ...problemAnswers([404, 500, 503]),
});

export const publishedOperations: readonly DescribedOperation[] = [
  {
    ...shared,
    path: "/oauth/:org/.well-known/openid-configuration",
    operationId: "getDiscoveryDocument",
    summary: "The issuer's metadata (OpenID Connect Discovery 1.0)",
    answers: answers("The metadata", metadata),
  },
  {
    ...shared,
    path: "/.well-known/oauth-authorization-server/oauth/:org",
    operationId: "getAuthorizationServerMetadata",
    summary: "The same document at the place that RFC 8414 names",
    answers: answers("The metadata", metadata),
  },
  {
    ...shared,
    path: "/oauth/:org/.well-known/jwks.json",
    operationId: "getKeySet",
    summary: "The public keys that verify this issuer's tokens (RFC 7517)",
    answers: answers("The keys", jwks),
  },
  {
    ...shared,
    tag: "Sovereign signing",
    path: "/oauth/:org/sovereign/pools/:poolId/.well-known/openid-configuration",
    operationId: "getPoolDiscoveryDocument",
    summary: "The metadata of a signing pool: its own issuer and keys, the organisation's endpoints",
    answers: answers("The metadata", metadata),
  },
  {
    ...shared,
    tag: "Sovereign signing",
    path: "/oauth/:org/sovereign/pools/:poolId/jwks.json",
    operationId: "getPoolKeySet",
    summary: "The public keys of a pool's agents, and no others",
    answers: answers("The keys", jwks),
  },
];
