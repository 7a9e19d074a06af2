/** Discovery documents and key sets, for /openapi.json. */
import Type, { type TSchema } from "typebox";
import { type DescribedOperation, problemAnswers } from "../../http/api/described-operation.ts";

const members = <T extends TSchema>(names: string, schema: T): Record<string, T> =>
  Object.fromEntries(names.split(/\s+/).map((name) => [name, schema]));

const uri = Type.String({ format: "uri" });
const strings = Type.Array(Type.String());
const tokenEndpoints =
  "token_endpoint userinfo_endpoint revocation_endpoint introspection_endpoint device_authorization_endpoint backchannel_authentication_endpoint pushed_authorization_request_endpoint";

const metadata = Type.Object(
  {
    ...members(
      `issuer authorization_endpoint jwks_uri end_session_endpoint registration_endpoint ${tokenEndpoints}`,
      uri,
    ),
    scopes_supported: Type.Array(Type.String(), {
      description: "Includes custom scopes of the organisation",
    }),
    ...members(
      `response_types_supported response_modes_supported grant_types_supported subject_types_supported
      id_token_signing_alg_values_supported token_endpoint_auth_methods_supported
      revocation_endpoint_auth_methods_supported introspection_endpoint_auth_methods_supported
      token_endpoint_auth_signing_alg_values_supported revocation_endpoint_auth_signing_alg_values_supported
      introspection_endpoint_auth_signing_alg_values_supported dpop_signing_alg_values_supported
      client_attestation_signing_alg_values_supported client_attestation_pop_signing_alg_values_supported
      introspection_signing_alg_values_supported userinfo_signing_alg_values_supported
      authorization_signing_alg_values_supported request_object_signing_alg_values_supported code_challenge_methods_supported
      prompt_values_supported acr_values_supported claim_types_supported claims_supported ui_locales_supported
      id_token_encryption_alg_values_supported id_token_encryption_enc_values_supported
      identity_chaining_requested_token_types_supported authorization_grant_profiles_supported authorization_details_types_supported
      backchannel_token_delivery_modes_supported`,
      strings,
    ),
    ...members(
      `claims_parameter_supported request_parameter_supported request_uri_parameter_supported
      authorization_response_iss_parameter_supported require_pushed_authorization_requests backchannel_logout_supported
      backchannel_logout_session_supported backchannel_user_code_parameter_supported`,
      Type.Boolean(),
    ),
    client_id_metadata_document_supported: Type.Optional(
      Type.Boolean({
        description: "Present where the address of a client's metadata document may be a client_id",
      }),
    ),
    tls_client_certificate_bound_access_tokens: Type.Optional(
      Type.Boolean({ description: "Present where client certificates are accepted (RFC 8705)" }),
    ),
    mtls_endpoint_aliases: Type.Optional(
      Type.Object(members(tokenEndpoints, uri), {
        description: "The endpoints for clients with certificates (RFC 8705 §5)",
      }),
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

const answers = (description: string, schema: TSchema) => ({
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
    path: "/oauth/:org/.well-known/oauth-authorization-server",
    operationId: "getAuthorizationServerMetadataBelowIssuer",
    summary: "Get the metadata of the issuer, for clients that look for it below the issuer",
    answers: answers("The metadata", metadata),
  },
  {
    ...shared,
    path: "/.well-known/openid-configuration/oauth/:org",
    operationId: "getDiscoveryDocumentAtRoot",
    summary: "Get the metadata of the issuer, for clients that look for it as RFC 8414 does",
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
  ...(
    [
      ["/oauth/:org/sovereign/pools/:poolId/.well-known/oauth-authorization-server", "BelowIssuer"],
      ["/.well-known/oauth-authorization-server/oauth/:org/sovereign/pools/:poolId", ""],
      ["/.well-known/openid-configuration/oauth/:org/sovereign/pools/:poolId", "AtRoot"],
    ] as const
  ).map(([path, place]) => ({
    ...shared,
    tag: "Sovereign signing",
    path,
    operationId: `getPoolMetadata${place}`,
    summary: "Get the pool's metadata where clients look for it",
    answers: answers("The metadata", metadata),
  })),
  {
    ...shared,
    tag: "Sovereign signing",
    path: "/oauth/:org/sovereign/pools/:poolId/jwks.json",
    operationId: "getPoolKeySet",
    summary: "Get the public keys of the pool's agents",
    answers: answers("The keys", jwks),
  },
];
