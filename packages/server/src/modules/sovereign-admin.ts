/** The wiring of what administrators and readers of keys see of sovereign signing. */
import type { FastifyInstance } from "fastify";
import { certificateUse } from "../config/listener-settings.ts";
import type { BrowserDeps } from "../features/oauth/authorize/browser.ts";
import { providerMetadata } from "../features/oauth/discovery.route.ts";
import { adminRoutes } from "../features/sovereign/admin-api/admin.route.ts";
import { poolDocumentsRoutes } from "../features/sovereign/admin-api/pool-documents.route.ts";
import { administratorAccessDoor } from "../http/api/administrator-authenticator.ts";
import type { Operation } from "../http/api/api-route.ts";
import { acceptJson } from "../http/api/json-body.ts";
import { codedErrorHandler } from "../http/coded-error.ts";
import type { ErrorHandlerDeps } from "../http/error-handlers.ts";
import type { PublishedDocuments } from "../http/published-documents.ts";
import { administratorAccess } from "./administrator-access.ts";
import type { Service } from "./open-service.ts";

/** In a scope that knows cookies: administrators come with a signature, or in a browser. */
export function mountSovereignAdmin(
  scope: FastifyInstance,
  service: Service,
  browser: BrowserDeps,
  errors: ErrorHandlerDeps,
): Operation[] {
  const operations: Operation[] = [];
  acceptJson(scope);
  scope.setErrorHandler(codedErrorHandler(errors));
  // A call without a body always has the same plain signature.
  const door = administratorAccessDoor(administratorAccess(service, browser), {
    isStrictOnly: ({ method }) => method === "DELETE",
  });
  const api = { app: scope, describe: (operation: Operation) => operations.push(operation) };
  adminRoutes(api, { ...service, baseUrl: service.config.baseUrl, door });
  return operations;
}

export function mountPoolDocuments(
  scope: FastifyInstance,
  service: Service,
  documents: PublishedDocuments,
): void {
  const { config, customScopes } = service;
  poolDocumentsRoutes(scope, {
    ...service,
    baseUrl: config.baseUrl,
    documents,
    metadataOf: async ({ id }) =>
      providerMetadata(id, {
        baseUrl: config.baseUrl,
        certificates: certificateUse(config),
        customScopes: await customScopes.list(id),
      }),
  });
}
