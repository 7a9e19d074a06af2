/** The organisation's public keys (RFC 7517): those that sign, will sign soon, or signed what may still be valid. */
import type { FastifyInstance } from "fastify";
import type { Clock } from "../../core/clock.ts";
import type { Organisation } from "../../core/organisations/organisation.ts";
import type { OrganisationDirectory } from "../../core/organisations/organisations.ts";
import type { SigningKeys } from "../../core/signing-keys/signing-keys.ts";
import { isDatabaseUnavailable } from "../../db/unavailable.ts";
import { documentRoute, type PublishedDocuments, publishedDocument } from "../../http/published-documents.ts";
import { DOCUMENT_LIFETIME_MS } from "./discovery.route.ts";

export interface JwksDeps {
  readonly clock: Clock;
  readonly organisations: OrganisationDirectory;
  readonly keys: SigningKeys;
  readonly documents: PublishedDocuments;
}

export function jwksRoute(app: FastifyInstance, deps: JwksDeps): void {
  const { documents, organisations } = deps;
  const handler = documentRoute<Organisation>(
    { documents, find: organisations.find, isUnavailable: isDatabaseUnavailable },
    async ({ id }) => {
      const now = deps.clock();
      const keys = (await deps.keys.published(id)).filter(
        ({ retireAt }) => retireAt === null || retireAt > now,
      );
      const nextChange = Math.min(...keys.map(({ retireAt }) => retireAt ?? Number.POSITIVE_INFINITY));
      const staleAt = Math.min(nextChange, now + DOCUMENT_LIFETIME_MS);
      return publishedDocument(id, { keys: keys.map(({ publicJwk }) => publicJwk) }, staleAt);
    },
  );
  app.get("/oauth/:org/.well-known/jwks.json", { exposeHeadRoute: true }, handler);
}
