/** The metadata of an issuer, at the locations of OpenID Connect Discovery 1.0 and RFC 8414. */
import { jwsAlgorithms } from "@signet/protocol/jose/jws";
import { mlDsaAlgs } from "@signet/protocol/jose/ml-dsa";
import type { FastifyInstance } from "fastify";
import { grantTypes, tokenEndpointAuthMethods } from "../../core/applications/application.ts";
import { encryptionAlgs } from "../../core/applications/client-jwks.ts";
import { contentEncryptions } from "../../core/applications/security-settings.ts";
import type { DetailType } from "../../core/authorization-details/detail-type.ts";
import type { DetailTypeDirectory } from "../../core/authorization-details/detail-types.ts";
import type { ClientPolicyDirectory } from "../../core/client-metadata/client-policies.ts";
import type { Clock } from "../../core/clock.ts";
import { issuerOf, type Organisation } from "../../core/organisations/organisation.ts";
import type { OrganisationDirectory } from "../../core/organisations/organisations.ts";
import type { SignUpSettings } from "../../core/organisations/sign-up-settings.ts";
import type { CustomScope } from "../../core/scopes/custom-scope.ts";
import type { CustomScopeDirectory } from "../../core/scopes/custom-scopes.ts";
import { standardScopes, userClaims } from "../../core/scopes/scopes.ts";
import { acrValues } from "../../core/sessions/session.ts";
import type { SigningPoolDirectory } from "../../core/signing-pools/directory.ts";
import { isDatabaseUnavailable } from "../../db/database-errors.ts";
import { LOCALES } from "../../html/messages/messages.ts";
import {
  DOCUMENT_LIFETIME_MS,
  documentRoute,
  type PublishedDocuments,
  publishedDocument,
} from "../../http/published-documents.ts";
import { responseModes } from "./authorize/request/authorization-request.ts";

export interface DiscoveryDeps {
  readonly baseUrl: string;
  readonly clock: Clock;
  readonly organisations: OrganisationDirectory;
  readonly customScopes: CustomScopeDirectory;
  readonly detailTypes: Pick<DetailTypeDirectory, "list">;
  readonly clientPolicies: ClientPolicyDirectory;
  readonly signingPools: Pick<SigningPoolDirectory, "published">;
  readonly documents: PublishedDocuments;
  /** Undefined where no listener requests client certificates. */
  readonly certificates: CertificateUse | undefined;
}

export interface CertificateUse {
  /** The base URL of the mTLS endpoints; undefined when it is the same. */
  readonly baseUrl: string | undefined;
}

export function discoveryRoutes(app: FastifyInstance, deps: DiscoveryDeps): void {
  const { documents, organisations } = deps;
  const handler = documentRoute<Organisation>(
    { documents, find: organisations.find, isUnavailable: isDatabaseUnavailable },
    async ({ id, settings }) => {
      const { signUp, requirePushedAuthorizationRequests } = settings;
      const customScopes = await deps.customScopes.list(id);
      const detailTypes = await deps.detailTypes.list(id);
      const { mode } = await deps.clientPolicies.of(id);
      const policies = { requirePushedAuthorizationRequests, takesClientDocuments: mode !== "off" };
      const own = { ...deps, customScopes, detailTypes, signUp, ...policies };
      const metadata = providerMetadata(id, own);
      // The keys of pools that sign in the organisation's name are in its JWKS (sovereign-signing.md §1).
      const agentAlgs = (await deps.signingPools.published(id)).flatMap(({ key, pool }) =>
        pool.issuerMode === "organisation" ? [key.alg] : [],
      );
      const signedAlgs = [...new Set([...signingAlgs, ...agentAlgs])];
      const algs = {
        id_token_signing_alg_values_supported: [...new Set([...signingAlgs, ...mlDsaAlgs, ...agentAlgs])],
        authorization_signing_alg_values_supported: signedAlgs,
        introspection_signing_alg_values_supported: signedAlgs,
        userinfo_signing_alg_values_supported: signedAlgs,
      };
      return publishedDocument(id, { ...metadata, ...algs }, deps.clock() + DOCUMENT_LIFETIME_MS);
    },
  );
  app.get("/oauth/:org/.well-known/openid-configuration", { exposeHeadRoute: true }, handler);
  app.get("/.well-known/oauth-authorization-server/oauth/:org", { exposeHeadRoute: true }, handler);
  // Not of a specification: clients that follow one of them with the other's place for the path.
  app.get("/oauth/:org/.well-known/oauth-authorization-server", { exposeHeadRoute: true }, handler);
  app.get("/.well-known/openid-configuration/oauth/:org", { exposeHeadRoute: true }, handler);
}

/** The same four for tokens and for client assertions. */
const signingAlgs = Object.keys(jwsAlgorithms);

/** Of what is signed beside tokens. */
const messageAlgs = {
  authorization_signing_alg_values_supported: signingAlgs,
  request_object_signing_alg_values_supported: signingAlgs,
  dpop_signing_alg_values_supported: signingAlgs,
  introspection_signing_alg_values_supported: signingAlgs,
  userinfo_signing_alg_values_supported: signingAlgs,
  id_token_encryption_alg_values_supported: encryptionAlgs,
  id_token_encryption_enc_values_supported: contentEncryptions,
};

const prompts = ["none", "login", "consent", "select_account"];

const protocolClaims = "sub iss aud exp iat auth_time nonce acr amr azp at_hash sid".split(" ");

export interface ProviderDescription {
  readonly baseUrl: string;
  readonly customScopes: readonly CustomScope[];
  readonly detailTypes: ReadonlyArray<Pick<DetailType, "type" | "enabled">>;
  readonly certificates: CertificateUse | undefined;
  /** Default: off. */
  readonly signUp?: Pick<SignUpSettings, "mode">;
  /** The organisation's policy. */
  readonly requirePushedAuthorizationRequests: boolean;
  /** The address of a metadata document may be a client_id. */
  readonly takesClientDocuments: boolean;
}

export function providerMetadata(orgId: string, description: ProviderDescription): Record<string, unknown> {
  const { baseUrl, customScopes, detailTypes, certificates, signUp } = description;
  const issuer = issuerOf(baseUrl, orgId);
  const customClaims = customScopes.flatMap(({ claims }) => claims.map(({ name }) => name));
  return {
    issuer,
    ...endpointsOf(issuer),
    require_pushed_authorization_requests: description.requirePushedAuthorizationRequests,
    scopes_supported: [...new Set([...standardScopes, ...customScopes.map(({ name }) => name)])],
    response_types_supported: ["code"],
    response_modes_supported: responseModes,
    authorization_details_types_supported: detailTypes.flatMap(({ type, enabled }) =>
      enabled ? [type] : [],
    ),
    grant_types_supported: grantTypes,
    ...identityChaining,
    subject_types_supported: ["public"],
    id_token_signing_alg_values_supported: [...signingAlgs, ...mlDsaAlgs],
    ...clientAuthentication(certificates !== undefined),
    code_challenge_methods_supported: ["S256"],
    prompt_values_supported: [...prompts, ...((signUp?.mode ?? "off") === "off" ? [] : ["create"])],
    acr_values_supported: Object.values(acrValues),
    ...messageAlgs,
    claim_types_supported: ["normal"],
    claims_supported: [...new Set([...protocolClaims, ...userClaims(customScopes), ...customClaims])],
    claims_parameter_supported: true,
    request_parameter_supported: true,
    request_uri_parameter_supported: false,
    authorization_response_iss_parameter_supported: true,
    // Absent when off: clients look whether it is there.
    ...(description.takesClientDocuments ? { client_id_metadata_document_supported: true } : {}),
    backchannel_logout_supported: true,
    backchannel_logout_session_supported: true,
    backchannel_token_delivery_modes_supported: ["poll"],
    backchannel_user_code_parameter_supported: false,
    ui_locales_supported: LOCALES,
    ...(certificates ? certificateMetadata(orgId, certificates) : {}),
  };
}

function clientAuthentication(takesCertificates: boolean) {
  const methods = tokenEndpointAuthMethods.filter(
    (method) => takesCertificates || !method.endsWith("tls_client_auth"),
  );
  return {
    token_endpoint_auth_methods_supported: methods,
    revocation_endpoint_auth_methods_supported: methods,
    introspection_endpoint_auth_methods_supported: methods.filter((method) => method !== "none"),
    token_endpoint_auth_signing_alg_values_supported: signingAlgs,
    revocation_endpoint_auth_signing_alg_values_supported: signingAlgs,
    introspection_endpoint_auth_signing_alg_values_supported: signingAlgs,
    client_attestation_signing_alg_values_supported: signingAlgs,
    client_attestation_pop_signing_alg_values_supported: signingAlgs,
  };
}

const endpointsOf = (issuer: string) => ({
  authorization_endpoint: `${issuer}/authorize`,
  token_endpoint: `${issuer}/token`,
  userinfo_endpoint: `${issuer}/userinfo`,
  jwks_uri: `${issuer}/.well-known/jwks.json`,
  revocation_endpoint: `${issuer}/revoke`,
  introspection_endpoint: `${issuer}/introspect`,
  end_session_endpoint: `${issuer}/end_session`,
  pushed_authorization_request_endpoint: `${issuer}/par`,
  device_authorization_endpoint: `${issuer}/device`,
  registration_endpoint: `${issuer}/register`,
  backchannel_authentication_endpoint: `${issuer}/bc-authorize`,
});

/** Identity assertions (ID-JAG): issued to other servers, and accepted from others. */
const identityChaining = {
  identity_chaining_requested_token_types_supported: ["urn:ietf:params:oauth:token-type:id-jag"],
  authorization_grant_profiles_supported: ["urn:ietf:params:oauth:grant-profile:id-jag"],
};

/** RFC 8705 §3.3 and §5: separate endpoints, so that other clients are not asked for a certificate. */
function certificateMetadata(orgId: string, { baseUrl }: CertificateUse): Record<string, unknown> {
  const mtlsIssuer = baseUrl === undefined ? undefined : issuerOf(baseUrl, orgId);
  return {
    tls_client_certificate_bound_access_tokens: true,
    ...(mtlsIssuer === undefined
      ? {}
      : {
          mtls_endpoint_aliases: {
            token_endpoint: `${mtlsIssuer}/token`,
            userinfo_endpoint: `${mtlsIssuer}/userinfo`,
            revocation_endpoint: `${mtlsIssuer}/revoke`,
            introspection_endpoint: `${mtlsIssuer}/introspect`,
            device_authorization_endpoint: `${mtlsIssuer}/device`,
            backchannel_authentication_endpoint: `${mtlsIssuer}/bc-authorize`,
            pushed_authorization_request_endpoint: `${mtlsIssuer}/par`,
          },
        }),
  };
}
