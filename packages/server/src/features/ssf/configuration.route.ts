/** GET /.well-known/ssf-configuration/oauth/{org}: the transmitter's metadata (SSF 1.0 §7.1). */
import type { FastifyInstance } from "fastify";
import type { Clock } from "../../core/clock.ts";
import { deliveryMethods } from "../../core/event-streams/event-stream.ts";
import { issuerOf, type Organisation } from "../../core/organisations/organisation.ts";
import type { OrganisationDirectory } from "../../core/organisations/organisations.ts";
import { isDatabaseUnavailable } from "../../db/database-errors.ts";
import {
  DOCUMENT_LIFETIME_MS,
  documentRoute,
  type PublishedDocuments,
  publishedDocument,
} from "../../http/published-documents.ts";

export interface SsfConfigurationDeps {
  readonly baseUrl: string;
  readonly clock: Clock;
  readonly organisations: OrganisationDirectory;
  readonly documents: PublishedDocuments;
}

export function ssfConfigurationRoute(app: FastifyInstance, deps: SsfConfigurationDeps): void {
  const { documents, organisations, baseUrl, clock } = deps;
  const handler = documentRoute<Organisation>(
    { documents, find: organisations.find, isUnavailable: isDatabaseUnavailable },
    async ({ id }) => publishedDocument(id, transmitter(baseUrl, id), clock() + DOCUMENT_LIFETIME_MS),
  );
  app.get("/.well-known/ssf-configuration/oauth/:org", { exposeHeadRoute: true }, handler);
}

function transmitter(baseUrl: string, orgId: string): Record<string, unknown> {
  const issuer = issuerOf(baseUrl, orgId);
  const at = (path: string) => `${issuer}/ssf/${path}`;
  return {
    ...{ spec_version: "1_0", issuer, jwks_uri: `${issuer}/.well-known/jwks.json` },
    delivery_methods_supported: deliveryMethods,
    ...{ configuration_endpoint: at("streams"), status_endpoint: at("status") },
    ...{ add_subject_endpoint: at("subjects/add"), remove_subject_endpoint: at("subjects/remove") },
    verification_endpoint: at("verify"),
    authorization_schemes: [{ spec_urn: "urn:ietf:rfc:6749" }],
    default_subjects: "ALL",
  };
}
