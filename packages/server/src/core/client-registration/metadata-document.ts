/** An application as client metadata: what RFC 7591 §3.2.1 and RFC 7592 §3 answer. */
import { formatScope } from "@signet/protocol/oauth/scope";
import type { Application } from "../applications/application.ts";
import { seconds } from "../clock.ts";
import { securityMetadata } from "./security-metadata.ts";

export interface RegisteredClient {
  readonly application: Application;
  /** `sgn_ra_…`, which is not stored. */
  readonly registrationToken: string;
  /** Of a new secret alone: it is not stored. */
  readonly clientSecret?: string | undefined;
  readonly softwareStatement: string | null;
}

export function clientInformation(
  { application, registrationToken, clientSecret, softwareStatement }: RegisteredClient,
  issuer: string,
): Readonly<Record<string, unknown>> {
  const { id, name, settings, clientType, createdAt } = application;
  const { jwks, jwksUri, homepageUri, logoUri, backchannelLogoutUri } = settings;
  const members = {
    client_id: id,
    client_id_issued_at: seconds(createdAt),
    // 0: it does not expire (§3.2.1).
    ...(clientSecret === undefined ? {} : { client_secret: clientSecret, client_secret_expires_at: 0 }),
    registration_access_token: registrationToken,
    registration_client_uri: `${issuer}/register/${id}`,
    client_name: name,
    redirect_uris: settings.redirectUris,
    post_logout_redirect_uris: settings.postLogoutRedirectUris,
    grant_types: settings.grantTypes,
    response_types: settings.grantTypes.includes("authorization_code") ? ["code"] : [],
    token_endpoint_auth_method: settings.tokenEndpointAuthMethod,
    scope: formatScope(settings.allowedScopes),
    contacts: settings.contacts,
    application_type: clientType === "native" ? "native" : "web",
    subject_type: "public",
    id_token_signed_response_alg: settings.idTokenSignedResponseAlg,
    tls_client_certificate_bound_access_tokens: settings.tlsClientCertificateBoundAccessTokens,
    ...securityMetadata(settings),
    ...{ client_uri: homepageUri, logo_uri: logoUri, backchannel_logout_uri: backchannelLogoutUri },
    ...{ jwks, jwks_uri: jwksUri, software_statement: softwareStatement ?? undefined },
  };
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}
