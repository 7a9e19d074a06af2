/** Ledgers of signatures, as the outside reads them. */
import { checkpointRoutes } from "../features/ledger/checkpoint.route.ts";
import type { LedgerDeps } from "../features/ledger/ledger-reader.ts";
import { proofRoute } from "../features/ledger/proof.route.ts";
import { tileRoute } from "../features/ledger/tile.route.ts";
import { problemErrorHandler } from "../http/error-handlers.ts";
import type { Module } from "./app-context.ts";
import { exchangeProver } from "./binding-prover.ts";

export const ledger: Module = (scope, { service, errors }) => {
  scope.setErrorHandler(problemErrorHandler(errors));
  const shared = { ...service, baseUrl: service.config.baseUrl };
  const deps: LedgerDeps = {
    ...shared,
    proveBinding: exchangeProver(service, ({ id }) => id),
  };
  checkpointRoutes(scope, deps);
  tileRoute(scope, deps);
  proofRoute(scope, deps);
};
