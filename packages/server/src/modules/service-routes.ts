/** Health checks, the assets of the pages, and the API reference at /openapi.json and /docs. */
import { version } from "../config/version.ts";
import { consentsOperations } from "../features/account-ui/consents/consents-operations.ts";
import { referenceRoutes } from "../features/api-reference/reference.route.ts";
import { caOperations } from "../features/device-identity/certificate-authority/ca-operations.ts";
import { healthRoutes } from "../features/health/health.route.ts";
import { healthOperations } from "../features/health/health-operations.ts";
import { oauthOperations } from "../features/oauth/oauth-operations.ts";
import { agentOperations } from "../features/sovereign/agent-api/agent-operations.ts";
import { waitOperations } from "../features/sovereign/wait/wait-operations.ts";
import {
  checksScript,
  copyScript,
  doubleSubmitScript,
  formPostScript,
  framesScript,
  liveScript,
  passkeyScript,
  waitScript,
} from "../html/scripts.ts";
import { consoleStylesheet, referenceStylesheet, stylesheet } from "../html/stylesheet.ts";
import { assetRoutes } from "../http/assets.ts";
import type { Module } from "./app-context.ts";

export const healthChecks: Module = (scope, { service, options }) =>
  healthRoutes(scope, { ping: () => service.database.ping(), isDraining: options.isDraining });

export const assets: Module = (scope) =>
  assetRoutes(scope, [
    ...[stylesheet, consoleStylesheet, referenceStylesheet],
    ...[formPostScript, copyScript, passkeyScript, waitScript],
    ...[liveScript, checksScript, framesScript, doubleSubmitScript],
  ]);

/** After every module that describes operations. */
export const apiReference: Module = (scope, { service, documents, operations }) =>
  referenceRoutes(scope, {
    baseUrl: service.config.baseUrl,
    version,
    documents,
    apiOperations: operations,
    otherOperations: [
      ...oauthOperations,
      ...consentsOperations,
      ...agentOperations,
      ...waitOperations,
      ...caOperations,
      ...healthOperations,
    ],
  });
