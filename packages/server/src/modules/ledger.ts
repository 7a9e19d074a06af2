/** Ledgers of signatures, as the outside reads them. */
import { checkpointRoutes } from "../features/ledger/checkpoint.route.ts";
import type { LedgerDeps } from "../features/ledger/ledger-reader.ts";
import { proofRoute } from "../features/ledger/proof.route.ts";
import { tileRoute } from "../features/ledger/tile.route.ts";
import { authenticateAgent } from "../features/sovereign/agent-api/agent-authentication.ts";
import { problemErrorHandler } from "../http/error-handlers.ts";
import type { Module } from "./app-context.ts";
import { exchangeProver } from "./binding-prover.ts";

export const ledger: Module = (scope, { service, sovereign: { signing }, errors }) => {
  scope.setErrorHandler(problemErrorHandler(errors));
  const shared = { ...service, baseUrl: service.config.baseUrl };
  const agents = { ...service, rateLimits: service.config.rateLimits, clock: signing.clock };
  const deps: LedgerDeps = {
    ...shared,
    authenticateAgent: (organisation, request) => authenticateAgent(agents, organisation, request),
    proveBinding: exchangeProver(service, ({ id }) => id),
  };
  checkpointRoutes(scope, deps);
  tileRoute(scope, deps);
  proofRoute(scope, deps);
};
