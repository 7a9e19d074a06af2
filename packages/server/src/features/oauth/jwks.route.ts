/** The organisation's JWKS (RFC 7517): its own keys, and those of the pools that sign in its name. */
import type { FastifyInstance } from "fastify";
import type { Clock } from "../../core/clock.ts";
import type { Organisation } from "../../core/organisations/organisation.ts";
import type { OrganisationDirectory } from "../../core/organisations/organisations.ts";
import type { SigningKeys } from "../../core/signing-keys/signing-keys.ts";
import { nextStateChange, publishedJwk } from "../../core/signing-pools/agent-key.ts";
import type { SigningPoolDirectory } from "../../core/signing-pools/directory.ts";
import { isDatabaseUnavailable } from "../../db/database-errors.ts";
import {
  DOCUMENT_LIFETIME_MS,
  documentRoute,
  type PublishedDocuments,
  publishedDocument,
} from "../../http/published-documents.ts";

export interface JwksDeps {
  readonly clock: Clock;
  readonly organisations: OrganisationDirectory;
  readonly keys: SigningKeys;
  readonly signingPools: SigningPoolDirectory;
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
      const agentKeys = (await deps.signingPools.published(id)).filter(
        ({ pool }) => pool.issuerMode === "organisation",
      );
      const nextChanges = [
        ...keys.map(({ retireAt }) => retireAt ?? Number.POSITIVE_INFINITY),
        ...agentKeys.map(({ key }) => nextStateChange(key, now)),
      ];
      const staleAt = Math.min(now + DOCUMENT_LIFETIME_MS, ...nextChanges);
      const published = [
        ...keys.map(({ publicJwk }) => publicJwk),
        ...agentKeys.map(({ key }) => publishedJwk(key)),
      ];
      return publishedDocument(id, { keys: published }, staleAt);
    },
  );
  app.get("/oauth/:org/.well-known/jwks.json", { exposeHeadRoute: true }, handler);
}
