/** A pool's discovery document and JWKS (sovereign-signing.md §7). */
import type { FastifyInstance } from "fastify";
import type { Clock } from "../../../core/clock.ts";
import type { Organisation } from "../../../core/organisations/organisation.ts";
import type { OrganisationDirectory } from "../../../core/organisations/organisations.ts";
import { nextStateChange, publishedJwk } from "../../../core/signing-pools/agent-key.ts";
import type { SigningPoolDirectory } from "../../../core/signing-pools/directory.ts";
import {
  type SigningPool,
  signingPoolIssuer,
  signingPoolJwksUri,
} from "../../../core/signing-pools/signing-pool.ts";
import { isDatabaseUnavailable } from "../../../db/database-errors.ts";
import { NotFound } from "../../../http/errors.ts";
import {
  DOCUMENT_LIFETIME_MS,
  documentRoute,
  type PublishedDocument,
  type PublishedDocuments,
  publishedDocument,
} from "../../../http/published-documents.ts";

export interface PoolDocumentsDeps {
  readonly baseUrl: string;
  readonly clock: Clock;
  readonly organisations: OrganisationDirectory;
  readonly signingPools: SigningPoolDirectory;
  readonly documents: PublishedDocuments;
  /** The organisation's metadata: the pool has the same endpoints. */
  metadataOf(organisation: Organisation): Promise<Record<string, unknown>>;
}

export function poolDocumentsRoutes(app: FastifyInstance, deps: PoolDocumentsDeps): void {
  const poolDocument = (
    build: (organisation: Organisation, pool: SigningPool) => Promise<PublishedDocument>,
  ) =>
    documentRoute<Organisation>(
      { documents: deps.documents, find: deps.organisations.find, isUnavailable: isDatabaseUnavailable },
      async (organisation, { poolId = "" }) => {
        const pool = await deps.signingPools.find(organisation.id, poolId);
        if (!pool) throw new NotFound("pool");
        return build(organisation, pool);
      },
    );
  const discovery = poolDocument((organisation, pool) => discoveryDocument(deps, organisation, pool));
  app.get(
    "/oauth/:org/sovereign/pools/:poolId/.well-known/openid-configuration",
    { exposeHeadRoute: true },
    discovery,
  );
  // As for organisations: discovery.route.ts.
  app.get(
    "/.well-known/oauth-authorization-server/oauth/:org/sovereign/pools/:poolId",
    { exposeHeadRoute: true },
    discovery,
  );
  app.get(
    "/oauth/:org/sovereign/pools/:poolId/.well-known/oauth-authorization-server",
    { exposeHeadRoute: true },
    discovery,
  );
  app.get(
    "/.well-known/openid-configuration/oauth/:org/sovereign/pools/:poolId",
    { exposeHeadRoute: true },
    discovery,
  );
  app.get(
    "/oauth/:org/sovereign/pools/:poolId/jwks.json",
    { exposeHeadRoute: true },
    poolDocument((_organisation, pool) => jwksDocument(deps, pool)),
  );
}

async function discoveryDocument(
  deps: PoolDocumentsDeps,
  organisation: Organisation,
  pool: SigningPool,
): Promise<PublishedDocument> {
  const metadata = {
    ...(await deps.metadataOf(organisation)),
    issuer: signingPoolIssuer(deps.baseUrl, pool),
    jwks_uri: signingPoolJwksUri(deps.baseUrl, pool),
    id_token_signing_alg_values_supported: pool.algs,
    // Agents sign these too (modern-oauth.md §7).
    authorization_signing_alg_values_supported: pool.algs,
    introspection_signing_alg_values_supported: pool.algs,
    userinfo_signing_alg_values_supported: pool.algs,
    // Agents don't sign logout tokens.
    backchannel_logout_supported: false,
    backchannel_logout_session_supported: false,
  };
  return publishedDocument(organisation.id, metadata, deps.clock() + DOCUMENT_LIFETIME_MS);
}

async function jwksDocument(
  { clock, signingPools }: PoolDocumentsDeps,
  pool: SigningPool,
): Promise<PublishedDocument> {
  const now = clock();
  const keys = (await signingPools.published(pool.orgId)).filter((one) => one.pool.id === pool.id);
  const staleAt = Math.min(now + DOCUMENT_LIFETIME_MS, ...keys.map(({ key }) => nextStateChange(key, now)));
  return publishedDocument(pool.orgId, { keys: keys.map(({ key }) => publishedJwk(key)) }, staleAt);
}
