/** The transmitter of shared signals: streams of security events to clients. */
import { ssfConfigurationRoute } from "../features/ssf/configuration.route.ts";
import { ssfPollRoute } from "../features/ssf/poll.route.ts";
import type { SsfDeps } from "../features/ssf/receiver.ts";
import { ssfStatusRoutes } from "../features/ssf/status.route.ts";
import { ssfStreamsRoutes } from "../features/ssf/streams.route.ts";
import { ssfSubjectsRoutes } from "../features/ssf/subjects.route.ts";
import { ssfVerificationRoute } from "../features/ssf/verification.route.ts";
import { acceptJson } from "../http/api/json-body.ts";
import { problemErrorHandler } from "../http/error-handlers.ts";
import type { Module } from "./app-context.ts";
import { exchangeProver } from "./binding-prover.ts";

const MAX_BYTES = 256 * 1024;

export const ssf: Module = (scope, { service, errors, documents }) => {
  acceptJson(scope, MAX_BYTES);
  scope.setErrorHandler(problemErrorHandler(errors));
  const { baseUrl } = service.config;
  const shared = { ...service, baseUrl };
  const deps: SsfDeps = {
    ...shared,
    proveBinding: exchangeProver(service, () => "ssf"),
  };
  ssfConfigurationRoute(scope, { ...shared, documents });
  ssfStreamsRoutes(scope, deps);
  ssfStatusRoutes(scope, deps);
  ssfSubjectsRoutes(scope, deps);
  ssfVerificationRoute(scope, deps);
  ssfPollRoute(scope, deps);
};
