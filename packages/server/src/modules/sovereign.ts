/** Sovereign signing: the signer for applications with a pool, the agent API and the wait page. */
import type { FastifyInstance } from "fastify";
import { spreadEncryption } from "../core/encryption/spread-encryption.ts";
import type { PoolSigning } from "../core/tokens/pool-signing.ts";
import type { BrowserDeps } from "../features/oauth/authorize/browser.ts";
import { pageDoor } from "../features/oauth/authorize/page-door.ts";
import { continueAuthorization, uiLocalesOf } from "../features/oauth/authorize/request/continue-signed.ts";
import { agentRoutes } from "../features/sovereign/agent-api/agent.route.ts";
import { type OpenSigning, openSigning } from "../features/sovereign/requests/open-signing.ts";
import { queueSigner } from "../features/sovereign/requests/queue-signer.ts";
import { respondRoute } from "../features/sovereign/wait/respond.route.ts";
import { waitRoutes } from "../features/sovereign/wait/wait.route.ts";
import type { WaitDeps } from "../features/sovereign/wait/waiting-request.ts";
import { acceptJson } from "../http/api/json-body.ts";
import { codedErrorHandler } from "../http/coded-error.ts";
import type { ErrorHandler, ErrorHandlerDeps } from "../http/error-handlers.ts";
import type { Service } from "./open-service.ts";

export interface Sovereign {
  readonly signing: OpenSigning;
  readonly poolSigning: PoolSigning;
}

/** Close `signing` before the service. */
export async function openSovereign(service: Service): Promise<Sovereign> {
  const { clock, database, masterKey, config, signingPools } = service;
  const signing = await openSigning({
    database,
    pools: signingPools,
    count: service.activity.count,
    // Separate keys: sealing several values per token would exceed the safe use of the key for data at rest.
    encryption: spreadEncryption(masterKey, "signing-request"),
    // A test's clock; otherwise all nodes use the database's.
    ...(clock === Date.now ? {} : { clock }),
  });
  return { signing, poolSigning: queueSigner(config.baseUrl, signing) };
}

export function mountAgents(
  scope: FastifyInstance,
  service: Service,
  { signing }: Sovereign,
  errors: ErrorHandlerDeps,
): void {
  acceptJson(scope);
  scope.setErrorHandler(codedErrorHandler(errors));
  const { rateLimits } = service.config;
  agentRoutes(scope, { ...service, rateLimits, clock: signing.clock, signing });
}

/** In a scope that parses cookies and forms. */
export function mountWaitPages(
  scope: FastifyInstance,
  { signing }: Sovereign,
  browser: BrowserDeps,
  errorHandlers: { readonly program: ErrorHandler; readonly page: ErrorHandler },
): void {
  const deps: WaitDeps = {
    ...browser,
    signing,
    session: pageDoor(browser),
    uiLocales: (visit, continuation) => uiLocalesOf(browser, visit, continuation),
    continueAuthorization: (visit, waited) => continueAuthorization(browser, visit, waited),
    errorHandlers,
  };
  waitRoutes(scope, deps);
  respondRoute(scope, deps);
}
