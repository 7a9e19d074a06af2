/** Health checks, assets, landing and demo pages, discovery documents and key sets, and the API reference. */
import { certificateUse } from "../config/listener-settings.ts";
import { version } from "../config/version.ts";
import { consentsOperations } from "../features/account-ui/consents/consents-operations.ts";
import { referenceRoutes } from "../features/api-reference/reference.route.ts";
import { apiRootOperation } from "../features/api-v1/operators/organisations.route.ts";
import { consoleKitRoutes } from "../features/console-kit/console-kit.route.ts";
import { demoRoutes } from "../features/demo/demo.route.ts";
import { mailboxRoutes } from "../features/demo/mailbox.route.ts";
import { caOperations } from "../features/device-identity/certificate-authority/ca-operations.ts";
import { documentationRoute } from "../features/documentation/documentation.route.ts";
import { siteRoute } from "../features/documentation/site.route.ts";
import { downloadsRoute } from "../features/downloads/downloads.route.ts";
import { healthOperations, healthRoutes } from "../features/health/health.route.ts";
import { landingRoute } from "../features/landing/landing.route.ts";
import { ledgerOperations } from "../features/ledger/ledger-operations.ts";
import { discoveryRoutes, providerMetadata } from "../features/oauth/discovery.route.ts";
import { jwksRoute } from "../features/oauth/jwks.route.ts";
import { oauthOperations } from "../features/oauth/oauth-operations.ts";
import { registrationOperations } from "../features/oauth/registration/registration-operations.ts";
import { imagesRoute } from "../features/organisation-images/images.route.ts";
import { poolDocumentsRoutes } from "../features/sovereign/admin-api/pool-documents.route.ts";
import { agentOperations } from "../features/sovereign/agent-api/agent-operations.ts";
import { thresholdOperations } from "../features/sovereign/threshold/threshold-operations.ts";
import { waitOperations } from "../features/sovereign/wait/wait-operations.ts";
import { ssfOperations } from "../features/ssf/ssf-operations.ts";
import { interFont } from "../html/fonts.ts";
import {
  checksScript,
  commandMenuScript,
  consoleScript,
  copyScript,
  doubleSubmitScript,
  draftPreviewScript,
  formPostScript,
  framesScript,
  galleryScript,
  liveScript,
  passkeyScript,
  signInScript,
  timesScript,
  waitScript,
} from "../html/scripts.ts";
import { consoleStylesheet, referenceStylesheet, stylesheet } from "../html/stylesheet.ts";
import { assetRoutes } from "../http/assets.ts";
import { publicCors } from "../http/cors.ts";
import { languageRoute } from "../page-kit/language-choice.ts";
import type { Module } from "./app-context.ts";
import { composeMailBody } from "./mail-content.ts";

export const healthChecks: Module = (scope, { service, options }) =>
  healthRoutes(scope, { ...service.database, isDraining: options.isDraining });

export const assets: Module = (scope) =>
  assetRoutes(scope, [
    ...[stylesheet, consoleStylesheet, referenceStylesheet, interFont],
    ...[formPostScript, copyScript, passkeyScript, signInScript, waitScript],
    ...[consoleScript, commandMenuScript, liveScript, checksScript, framesScript],
    ...[draftPreviewScript, doubleSubmitScript, galleryScript, timesScript],
  ]);

export const downloads: Module = (scope, { service: { clock } }) => downloadsRoute(scope, { version, clock });

/** After every module that describes operations. */
export const apiReference: Module = (scope, { service, documents, operations }) =>
  referenceRoutes(scope, {
    baseUrl: service.config.baseUrl,
    version,
    documents,
    apiOperations: operations,
    otherOperations: [
      ...oauthOperations,
      ...registrationOperations,
      ...consentsOperations,
      ...agentOperations,
      ...thresholdOperations,
      ...waitOperations,
      ...caOperations,
      ...ssfOperations,
      ...ledgerOperations,
      ...healthOperations,
      apiRootOperation,
    ],
  });

export const documentation: Module = (scope, { service: { clock } }) => {
  documentationRoute(scope);
  siteRoute(scope, { clock });
};

export const landingPages: Module = (scope, { service, options: { demo } }) => {
  const { baseUrl } = service.config;
  const deps = { ...service, baseUrl };
  const hasMailbox = demo !== undefined && service.mailTransport.kind === "mailbox";
  const mailbox = hasMailbox ? { mailboxUri: "/demo/mailbox" } : {};
  languageRoute(scope, deps);
  landingRoute(scope, { ...deps, demo: demo && { ...demo, ...mailbox } });
  if (demo) demoRoutes(scope, { ...deps, demo });
  if (demo) consoleKitRoutes(scope, service);
  if (hasMailbox) mailboxRoutes(scope, { ...service, composeBody: (mail) => composeMailBody(deps, mail) });
};

export const organisationImages: Module = (scope, { service }) => imagesRoute(scope, service);

/** Every document of `documents`. */
const documentPaths = [
  "/oauth/:org/.well-known/openid-configuration",
  "/oauth/:org/.well-known/oauth-authorization-server",
  "/.well-known/openid-configuration/oauth/:org",
  "/.well-known/oauth-authorization-server/oauth/:org",
  "/oauth/:org/.well-known/jwks.json",
  "/oauth/:org/sovereign/pools/:poolId/.well-known/openid-configuration",
  "/oauth/:org/sovereign/pools/:poolId/.well-known/oauth-authorization-server",
  "/.well-known/openid-configuration/oauth/:org/sovereign/pools/:poolId",
  "/.well-known/oauth-authorization-server/oauth/:org/sovereign/pools/:poolId",
  "/oauth/:org/sovereign/pools/:poolId/jwks.json",
];

export const documents: Module = (scope, { service, documents: published }) => {
  const { config, customScopes, detailTypes } = service;
  const { baseUrl } = config;
  const certificates = certificateUse(config);
  const deps = { ...service, baseUrl, documents: published };
  publicCors(scope, documentPaths);
  discoveryRoutes(scope, { ...deps, certificates });
  jwksRoute(scope, deps);
  poolDocumentsRoutes(scope, {
    ...deps,
    metadataOf: async ({ id, settings: { signUp, requirePushedAuthorizationRequests } }) =>
      providerMetadata(id, {
        ...{ baseUrl, certificates, signUp, requirePushedAuthorizationRequests },
        customScopes: await customScopes.list(id),
        detailTypes: await detailTypes.list(id),
        takesClientDocuments: (await service.clientPolicies.of(id)).mode !== "off",
      }),
  });
};
