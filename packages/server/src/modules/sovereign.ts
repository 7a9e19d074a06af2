/** The wiring of sovereign signing: what it needs of the rest, and what the rest needs of it. */
import type { FastifyInstance } from "fastify";
import { spreadEncryption } from "../core/encryption/spread-encryption.ts";
import type { PoolSigning } from "../core/tokens/pool-signing.ts";
import type { BrowserDeps, Visit } from "../features/oauth/authorize/browser.ts";
import { pageDoor } from "../features/oauth/authorize/browser-session-port.ts";
import { continueAuthorization, uiLocalesOf } from "../features/oauth/authorize/request/continue-signed.ts";
import { agentRoutes } from "../features/sovereign/agent-api/agent.route.ts";
import { queueSigner } from "../features/sovereign/requests/signing/queue-signer.ts";
import {
  openSovereignRequests,
  type SovereignRequests,
} from "../features/sovereign/requests/sovereign-requests.ts";
import { goOn } from "../features/sovereign/wait/go-on.ts";
import { respondRoute } from "../features/sovereign/wait/respond.route.ts";
import { waitRoutes } from "../features/sovereign/wait/wait.route.ts";
import { acceptJson } from "../http/api/json-body.ts";
import { codedErrorHandler } from "../http/coded-error.ts";
import type { ErrorHandler, ErrorHandlerDeps } from "../http/error-handlers.ts";
import type { Service } from "./open-service.ts";

export interface Sovereign {
  readonly requests: SovereignRequests;
  readonly poolSigning: PoolSigning;
}

/** Close its requests before the service. */
export async function openSovereign(service: Service): Promise<Sovereign> {
  const { clock, database, masterKey, config, signingPools } = service;
  const requests = await openSovereignRequests({
    database,
    pools: signingPools,
    count: service.activity.count,
    // Keys of their own: what is sealed for every token would wear out the one for data at rest.
    encryption: spreadEncryption(masterKey, "signing-request"),
    // A test's clock; else all nodes go by the database's.
    ...(clock === Date.now ? {} : { clock }),
  });
  const { baseUrl } = config;
  const poolSigning = queueSigner({
    baseUrl,
    clock: requests.clock,
    database,
    requests,
    pools: signingPools,
  });
  return { requests, poolSigning };
}

export function mountAgents(
  scope: FastifyInstance,
  service: Service,
  { requests }: Sovereign,
  errors: ErrorHandlerDeps,
): void {
  acceptJson(scope);
  scope.setErrorHandler(codedErrorHandler(errors));
  const { rateLimits } = service.config;
  agentRoutes(scope, { ...service, rateLimits, clock: requests.clock, requests });
}

/** In a scope that knows cookies and forms. */
export function mountWaitPages(
  scope: FastifyInstance,
  { requests }: Sovereign,
  browser: BrowserDeps,
  errorHandlers: { readonly program: ErrorHandler; readonly page: ErrorHandler },
): void {
  const deps = {
    ...browser,
    requests,
    door: pageDoor(browser),
    uiLocales: (visit: Visit, continuation: unknown) => uiLocalesOf(browser, visit, continuation),
    goOn: goOn({
      requests,
      continueAuthorization: (visit, waited) => continueAuthorization(browser, visit, waited),
    }),
    errorHandlers,
  };
  waitRoutes(scope, deps);
  respondRoute(scope, deps);
}
