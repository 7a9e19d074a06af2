/** Discovery documents and key sets, of organisations and of signing pools. */
import { certificateUse } from "../config/listener-settings.ts";
import { discoveryRoutes, providerMetadata } from "../features/oauth/discovery.route.ts";
import { jwksRoute } from "../features/oauth/jwks.route.ts";
import { poolDocumentsRoutes } from "../features/sovereign/admin-api/pool-documents.route.ts";
import type { Module } from "./app-context.ts";

export const documents: Module = (scope, { service, documents: published }) => {
  const { config, customScopes } = service;
  const { baseUrl } = config;
  const certificates = certificateUse(config);
  const deps = { ...service, baseUrl, documents: published };
  discoveryRoutes(scope, { ...deps, certificates });
  jwksRoute(scope, deps);
  poolDocumentsRoutes(scope, {
    ...deps,
    metadataOf: async ({ id }) =>
      providerMetadata(id, { baseUrl, certificates, customScopes: await customScopes.list(id) }),
  });
};
