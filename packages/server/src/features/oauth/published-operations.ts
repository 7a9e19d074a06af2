/** Discovery documents and key sets, for /openapi.json. */
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
    scopes_supported: list("Includes custom scopes of the organisation"),
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
      Type.Boolean({ description: "Present where client certificates are accepted (RFC 8705)" }),
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
        { description: "The endpoints for clients with certificates (RFC 8705 §5)" },
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
        x5c: Type.Optional(
          Type.Array(Type.String(), { description: "For keys of signing agents that have certificates" }),
        ),
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
  headers: { "If-None-Match": "The `ETag` of the cached document" },
} as const;

const headers = { ETag: "Changes with the document", "Cache-Control": "How long the document may be cached" };

const answers = (description: string, schema: typeof metadata | typeof jwks) => ({
  200: { description, schema, headers },
  304: { description: "Not modified" },
  ...problemAnswers([404, 500, 503]),
});

export const publishedOperations: readonly DescribedOperation[] = [
  {
    ...shared,
    path: "/oauth/:org/.well-known/openid-configuration",
    operationId: "getDiscoveryDocument",
    summary: "Get the metadata of the issuer (OpenID Connect Discovery 1.0)",
    answers: answers("The metadata", metadata),
  },
  {
    ...shared,
    path: "/.well-known/oauth-authorization-server/oauth/:org",
    operationId: "getAuthorizationServerMetadata",
    summary: "Get the metadata of the issuer (RFC 8414)",
    answers: answers("The metadata", metadata),
  },
  {
    ...shared,
    path: "/oauth/:org/.well-known/jwks.json",
    operationId: "getKeySet",
    summary: "Get the public keys of the issuer (RFC 7517)",
    answers: answers("The keys", jwks),
  },
  {
    ...shared,
    tag: "Sovereign signing",
    path: "/oauth/:org/sovereign/pools/:poolId/.well-known/openid-configuration",
    operationId: "getPoolDiscoveryDocument",
    summary: "Get the metadata of a signing pool: its issuer and keys, the organisation's endpoints",
    answers: answers("The metadata", metadata),
  },
  {
    ...shared,
    tag: "Sovereign signing",
    path: "/oauth/:org/sovereign/pools/:poolId/jwks.json",
    operationId: "getPoolKeySet",
    summary: "Get the public keys of the pool's agents",
    answers: answers("The keys", jwks),
  },
];
