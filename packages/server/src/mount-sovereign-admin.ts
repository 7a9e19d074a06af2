/** The wiring of what administrators and readers of keys see of sovereign signing. */
import type { FastifyInstance } from "fastify";
import { issuerOf } from "./core/organisations/organisation.ts";
import { lackingProof } from "./core/second-factors/fresh-proof.ts";
import { type BrowserDeps, isOwnForm, whoIsThere } from "./features/oauth/authorize/browser.ts";
import { providerMetadata } from "./features/oauth/discovery.route.ts";
import { adminRoutes } from "./features/sovereign/admin.route.ts";
import { adminDoor } from "./features/sovereign/admin-door.ts";
import { poolDocumentsRoutes } from "./features/sovereign/pool-documents.route.ts";
import { administratorDoor } from "./features/system-accounts/hmac-authentication.ts";
import { withIdempotency } from "./features/system-accounts/idempotency.ts";
import type { Operation } from "./http/api/api-route.ts";
import { acceptJson } from "./http/api/json-body.ts";
import { codedErrorHandler } from "./http/coded-error.ts";
import type { ErrorHandlerDeps } from "./http/error-handlers.ts";
import type { PublishedDocuments } from "./http/published-documents.ts";
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
  const door = adminDoor({
    organisations: service.organisations,
    accounts: withIdempotency(service, administratorDoor(service)),
    strictAccounts: withIdempotency(service, administratorDoor(service, { strictOnly: true })),
    browser: {
      whoIsThere: (organisation, request) => whoIsThere(browser, { organisation, request }),
      isOwnForm: (organisation, request, presented) =>
        isOwnForm(browser, { organisation, request }, presented),
      lackingProof: (signedIn) => lackingProof(service.database.query, signedIn, service.clock()),
    },
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
    metadataOf: async ({ id }) => providerMetadata(issuerOf(config.baseUrl, id), await customScopes.list(id)),
  });
}
