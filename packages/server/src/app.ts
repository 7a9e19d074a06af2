/** All wiring and every mount. A request enters one feature folder, uses a few nouns of the core, and leaves. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import cookie from "@fastify/cookie";
import { isUuid } from "@signet/protocol/hash";
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import { certificateUse } from "./config/listener-settings.ts";
import { version } from "./config/version.ts";
import { isDatabaseUnavailable } from "./db/unavailable.ts";
import { accountRoutes } from "./features/account-ui/account-routes.ts";
import { consentsRoutes } from "./features/account-ui/consents/consents.route.ts";
import { consentsOperations } from "./features/account-ui/consents/consents-operations.ts";
import { referenceRoutes } from "./features/api-reference/reference.route.ts";
import { demoRoutes } from "./features/demo/demo.route.ts";
import { mailboxRoutes } from "./features/demo/mailbox.route.ts";
import { caOperations } from "./features/device-identity/certificate-authority/ca-operations.ts";
import { federationLoginRoutes } from "./features/federation/login.route.ts";
import { validateRoute } from "./features/federation/validate.route.ts";
import { healthRoutes } from "./features/health/health.route.ts";
import { healthOperations } from "./features/health/health-operations.ts";
import { landingRoute } from "./features/landing/landing.route.ts";
import { legacyRoutes } from "./features/legacy-api/legacy-routes.ts";
import { sessionKeysRoutes } from "./features/legacy-api/session-keys/session-keys.route.ts";
import { managementRoutes } from "./features/management-api/management-routes.ts";
import { consentRoute } from "./features/oauth/authorize/consent/consent.route.ts";
import { twoFactorRoute } from "./features/oauth/authorize/factors/two-factor.route.ts";
import { pageDoor } from "./features/oauth/authorize/page-door.ts";
import { authorizeRoutes } from "./features/oauth/authorize/request/authorize.route.ts";
import { loginRoute } from "./features/oauth/authorize/sign-in/login.route.ts";
import { bearerUser } from "./features/oauth/bearer-user.ts";
import { deviceRoute } from "./features/oauth/device-grant/device.route.ts";
import { verifyRoutes } from "./features/oauth/device-grant/verify.route.ts";
import { discoveryRoutes } from "./features/oauth/discovery.route.ts";
import { endSessionRoutes } from "./features/oauth/end-session/end-session.route.ts";
import { introspectRoute } from "./features/oauth/introspect.route.ts";
import { jwksRoute } from "./features/oauth/jwks.route.ts";
import { oauthOperations } from "./features/oauth/oauth-operations.ts";
import { actionPageRoutes } from "./features/oauth/recovery/action.route.ts";
import { newPasswordRoutes } from "./features/oauth/recovery/new-password.route.ts";
import { recoveryRoute } from "./features/oauth/recovery/recovery.route.ts";
import { verifyEmailRoutes } from "./features/oauth/recovery/verify-email.route.ts";
import { verifyOfferRoutes } from "./features/oauth/recovery/verify-offer.route.ts";
import { revokeRoute } from "./features/oauth/revoke.route.ts";
import { authorizationCodeGrant } from "./features/oauth/token/authorization-code.ts";
import { clientCredentialsGrant } from "./features/oauth/token/client-credentials.ts";
import { deviceCodeGrant } from "./features/oauth/token/device-code.ts";
import { refreshTokenGrant } from "./features/oauth/token/refresh-token.ts";
import { tokenRoute } from "./features/oauth/token/token.route.ts";
import { userinfoRoutes } from "./features/oauth/userinfo.route.ts";
import { agentOperations } from "./features/sovereign/agent-api/agent-operations.ts";
import { waitOperations } from "./features/sovereign/wait/wait-operations.ts";
import { administratorDoor, systemAccountDoor } from "./features/system-accounts/hmac-authentication.ts";
import { withIdempotency } from "./features/system-accounts/idempotency.ts";
import { sessionKeyDoor } from "./features/system-accounts/session-key-authentication.ts";
import { usersGetRoute } from "./features/system-accounts/users-get.route.ts";
import {
  checksScript,
  copyScript,
  formPostScript,
  framesScript,
  liveScript,
  onceScript,
  passkeyScript,
  waitScript,
} from "./html/scripts.ts";
import { consoleStylesheet, referenceStylesheet, stylesheet } from "./html/stylesheet.ts";
import type { ApiScope, Operation } from "./http/api/api-route.ts";
import { acceptJson } from "./http/api/json-body.ts";
import { assetRoutes } from "./http/assets.ts";
import { codedErrorHandler } from "./http/coded-error.ts";
import { clientCors } from "./http/cors.ts";
import {
  type ErrorHandlerDeps,
  oauthErrorHandler,
  pageErrorHandler,
  problemErrorHandler,
  type Refusal,
  type RenderErrorPage,
  sendProblem,
} from "./http/error-handlers.ts";
import { acceptForms, keepRawQuery } from "./http/form-body.ts";
import { serverBounds } from "./http/listeners/server-bounds.ts";
import { type PublishedDocuments, publishedDocuments } from "./http/published-documents.ts";
import { refuseNulInAddresses } from "./http/readable-address.ts";
import { logRequests, type RequestLine, requestIds } from "./http/request-log.ts";
import { mountConsole } from "./modules/admin-console.ts";
import { browserDeps } from "./modules/browser-deps.ts";
import { mountDeviceAdmin } from "./modules/device-admin.ts";
import { mountDevices } from "./modules/device-identity.ts";
import { errorPageRenderer } from "./modules/error-page.ts";
import { mailBodyOf } from "./modules/mail-content.ts";
import { refreshTokenKey, type Service } from "./modules/open-service.ts";
import { mountAgents, mountWaitPages, openSovereign, type Sovereign } from "./modules/sovereign.ts";
import { mountPoolDocuments, mountSovereignAdmin } from "./modules/sovereign-admin.ts";

export interface AppOptions {
  readonly nodeName: string;
  logRequest(line: RequestLine): void;
  /** How many published documents (discovery, JWKS) were served since the last call. */
  logDocuments(served: number): void;
  /** A request that was refused, with the private reason that its answer does not tell. */
  logRefusal(refusal: Refusal): void;
  logError(error: unknown, requestId: string): void;
  isDraining(): boolean;
  /** Hears of every route as it is registered. */
  onRoute?(route: { method: string; path: string }): void;
  /** Set in demo mode only: what the landing page and the try-it flow show. */
  readonly demo?: {
    readonly organisationIds: readonly string[];
    readonly orgId: string;
    readonly clientId: string;
    readonly credentialsFile: string;
  };
}

const DOCUMENT_COUNT_MS = 10_000;
const BODY_LIMIT = 64 * 1024;

const assets = [
  ...[stylesheet, consoleStylesheet, referenceStylesheet],
  ...[
    formPostScript,
    copyScript,
    passkeyScript,
    waitScript,
    liveScript,
    checksScript,
    framesScript,
    onceScript,
  ],
];

const otherOperations = [
  ...oauthOperations,
  ...consentsOperations,
  ...agentOperations,
  ...waitOperations,
  ...caOperations,
  ...healthOperations,
];

export async function createApp(service: Service, options: AppOptions): Promise<FastifyInstance> {
  const documents = publishedDocuments({ capacity: 10_000, clock: service.clock });
  service.changes.subscribe((change) =>
    change === "everything" ? documents.doubtAll() : documents.evictOrganisation(change.orgId),
  );
  const app = bareApp(service, options, documents);
  app.addHook("onRoute", ({ method, path }) => {
    for (const one of [method].flat()) options.onRoute?.({ method: one, path });
  });
  const errors: ErrorHandlerDeps = {
    isUnavailable: isDatabaseUnavailable,
    log: options.logError,
    refused: options.logRefusal,
  };
  app.setErrorHandler(problemErrorHandler(errors));
  app.setNotFoundHandler(notFoundHandler(errorPageRenderer(service)));
  logRequests(app, options.logRequest);
  countDocuments(app, documents, options);
  refuseNulInAddresses(app);
  releaseConnectionsAtTheEnd(app);
  if (service.config.baseUrl.startsWith("https:")) insistOnHttps(app);

  healthRoutes(app, { ping: () => service.database.ping(), isDraining: options.isDraining });
  assetRoutes(app, assets);
  await app.register(async (scope) => mountDocuments(scope, service, documents));
  const sovereign = await openSovereign(service);
  app.addHook("onClose", () => sovereign.signing.close());
  await app.register(async (scope) => mountTokenEndpoints(scope, service, sovereign, errors));
  await app.register(async (scope) => mountAgents(scope, service, sovereign, errors));
  const apiOperations: Operation[] = [];
  await app.register(async (scope) => void apiOperations.push(...mountDevices(scope, service, errors)));
  await app.register(async (scope) => void apiOperations.push(...mountApis(scope, service, errors)));
  for (const mountAdmin of [mountSovereignAdmin, mountDeviceAdmin])
    await app.register(async (scope) => {
      await scope.register(cookie);
      apiOperations.push(...mountAdmin(scope, service, browserDeps(service, sovereign), errors));
    });
  await app.register(async (scope) => {
    referenceRoutes(scope, {
      baseUrl: service.config.baseUrl,
      version,
      documents,
      apiOperations,
      otherOperations,
    });
  });
  await app.register(async (scope) => {
    // Only pages know cookies: the token endpoints do not pay for them.
    await scope.register(cookie);
    await mountPages(scope, service, sovereign, { ...options, errors });
  });
  return app;
}

function insistOnHttps(app: FastifyInstance): void {
  app.addHook("onRequest", (_request, reply, done) => {
    reply.header("strict-transport-security", "max-age=63072000; includeSubDomains");
    done();
  });
}

/** A connection whose last request has just been answered is idle now, and would wait for the next one. */
function releaseConnectionsAtTheEnd(app: FastifyInstance): void {
  let release: NodeJS.Timeout | undefined;
  app.addHook("preClose", (done) => {
    release = setInterval(() => app.server.closeIdleConnections(), 50);
    done();
  });
  app.addHook("onClose", async () => clearInterval(release));
}

/** A page for a person, e.g. one who reloads the address of a form; problem+json for a program. */
function notFoundHandler(
  render: RenderErrorPage,
): (request: FastifyRequest, reply: FastifyReply) => Promise<void> {
  const notFound = { status: 404, code: "not-found", title: "There is nothing here" };
  return async (request, reply) => {
    const wantsPage = request.method === "GET" && request.headers.accept?.includes("text/html");
    if (wantsPage) await render(request, reply, { status: 404 });
    else await sendProblem(reply, notFound, request.id);
  };
}

/** What is answered before routing has no line of its own: its number has one, now and then. */
function countDocuments(app: FastifyInstance, documents: PublishedDocuments, options: AppOptions): void {
  const write = () => {
    const served = documents.takeCount();
    if (served > 0) options.logDocuments(served);
  };
  const timer = setInterval(write, DOCUMENT_COUNT_MS).unref();
  app.addHook("onClose", async () => {
    clearInterval(timer);
    write();
  });
}

function bareApp(service: Service, options: AppOptions, documents: PublishedDocuments): FastifyInstance {
  const proxies = service.config.trustedProxies;
  return Fastify({
    logger: false,
    genReqId: requestIds(options.nodeName),
    trustProxy: proxies.length > 0 ? [...proxies] : false,
    bodyLimit: BODY_LIMIT,
    requestTimeout: serverBounds.requestTimeout,
    connectionTimeout: 0,
    keepAliveTimeout: serverBounds.keepAliveTimeout,
    forceCloseConnections: "idle",
    return503OnClosing: false,
    // HEAD is safe by definition, a GET that issues codes or signs out is not: documents and health checks have it.
    exposeHeadRoutes: false,
    routerOptions: { maxParamLength: 200, querystringParser: keepRawQuery, ignoreTrailingSlash: false },
    serverFactory: (handler, serverOptions) => serverWithDocuments(handler, serverOptions, documents),
    frameworkErrors: (_error, request, reply) => {
      void sendProblem(
        reply,
        { status: 400, code: "malformed", title: "The address could not be read" },
        request.id,
      );
    },
  }) as unknown as FastifyInstance;
}

/** Published documents are answered before routing; everything else goes to Fastify. */
function serverWithDocuments(
  handler: (request: IncomingMessage, response: ServerResponse) => void,
  options: object,
  documents: PublishedDocuments,
): Server {
  return createServer({ ...options, ...serverBounds }, (request, response) => {
    if (!documents.answer(request, response)) handler(request, response);
  });
}

function mountDocuments(scope: FastifyInstance, service: Service, documents: PublishedDocuments): void {
  const { config } = service;
  const deps = { ...service, baseUrl: config.baseUrl, documents, certificates: certificateUse(config) };
  discoveryRoutes(scope, deps);
  jwksRoute(scope, deps);
  mountPoolDocuments(scope, service, documents);
}

function mountTokenEndpoints(
  scope: FastifyInstance,
  service: Service,
  { poolSigning }: Sovereign,
  errors: ErrorHandlerDeps,
): void {
  const { database, clock } = service;
  const shared = {
    ...service,
    baseUrl: service.config.baseUrl,
    mtlsBaseUrl: service.config.mtlsBaseUrl,
    noteSecretUse: service.secretUse.note,
    refreshTokenKey: refreshTokenKey(service.masterKey),
    poolSigning,
  };
  const keys = { database, clock, refreshTokenKey: shared.refreshTokenKey };
  acceptForms(scope);
  scope.setErrorHandler(oauthErrorHandler(errors));
  clientCors(
    scope,
    ["/oauth/:org/token", "/oauth/:org/revoke", "/oauth/:org/userinfo", "/oauth/:org/device"],
    async (orgId, origin) =>
      isUuid(orgId) &&
      (await service.organisations.find(orgId)) !== undefined &&
      (await service.applications.ofOrigin(orgId, origin)).length > 0,
  );
  tokenRoute(scope, {
    ...shared,
    grants: [
      authorizationCodeGrant(keys),
      refreshTokenGrant(keys),
      clientCredentialsGrant,
      deviceCodeGrant({ ...keys, poolSigning }),
    ],
  });
  deviceRoute(scope, { ...shared, rateLimits: service.config.rateLimits });
  revokeRoute(scope, shared);
  introspectRoute(scope, shared);
  userinfoRoutes(scope, shared);
}

/** The JSON interfaces: management API and legacy API. */
function mountApis(scope: FastifyInstance, service: Service, errors: ErrorHandlerDeps): Operation[] {
  const operations: Operation[] = [];
  acceptJson(scope);
  scope.setErrorHandler(problemErrorHandler(errors));
  const api: ApiScope = { app: scope, describe: (operation) => operations.push(operation) };
  const administrator = withIdempotency(service, administratorDoor(service));
  const strictDoor = withIdempotency(service, administratorDoor(service, { strictOnly: true }));
  managementRoutes(api, { ...service, baseUrl: service.config.baseUrl, door: administrator, strictDoor });
  usersGetRoute(api, { ...service, door: systemAccountDoor(service) });
  legacyRoutes(api, {
    ...service,
    baseUrl: service.config.baseUrl,
    rateLimits: service.config.rateLimits,
    signed: systemAccountDoor(service),
    keyHolder: sessionKeyDoor(service),
    showError: errorPageRenderer(service),
  });
  const keyDoor = sessionKeyDoor(service);
  validateRoute(api, { keyDoor });
  sessionKeysRoutes(api, { ...service, keyDoor });
  return operations;
}

async function mountPages(
  scope: FastifyInstance,
  service: Service,
  sovereign: Sovereign,
  { errors, ...options }: AppOptions & { readonly errors: ErrorHandlerDeps },
): Promise<void> {
  const { baseUrl } = service.config;
  const browser = browserDeps(service, sovereign);
  acceptForms(scope);
  scope.setErrorHandler(pageErrorHandler(errors, errorPageRenderer(service)));
  authorizeRoutes(scope, browser);
  loginRoute(scope, { ...browser, passwords: service.passwords });
  twoFactorRoute(scope, browser);
  consentRoute(scope, browser);
  endSessionRoutes(scope, browser);
  verifyRoutes(scope, browser);
  federationLoginRoutes(scope, { ...service, door: pageDoor(browser) });
  const account = {
    ...browser,
    ...browser.secondFactors,
    passwords: service.passwords,
    door: pageDoor(browser),
  };
  accountRoutes(scope, account);
  consentsRoutes(scope, {
    ...account,
    bearerUser: (organisation, request) => bearerUser(service, organisation, request),
    errorHandlers: {
      program: oauthErrorHandler(errors),
      page: pageErrorHandler(errors, errorPageRenderer(service)),
    },
  });
  await scope.register(async (waiting) => {
    mountWaitPages(waiting, sovereign, browser, {
      program: codedErrorHandler(errors),
      page: pageErrorHandler(errors, errorPageRenderer(service)),
    });
  });
  mountConsole(scope, service, browser, errors);
  recoveryRoute(scope, browser);
  newPasswordRoutes(scope, { ...browser, passwords: service.passwords });
  actionPageRoutes(scope, { ...browser, passwords: service.passwords });
  verifyOfferRoutes(scope, browser);
  verifyEmailRoutes(scope, browser);
  const hasMailbox = options.demo !== undefined && service.mailTransport.kind === "mailbox";
  const demo = options.demo && { ...options.demo, ...(hasMailbox ? { mailboxUri: "/demo/mailbox" } : {}) };
  landingRoute(scope, { baseUrl, organisations: service.organisations, demo });
  if (options.demo) demoRoutes(scope, { ...service, baseUrl, demo: options.demo });
  if (hasMailbox)
    mailboxRoutes(scope, { ...service, bodyOf: (mail) => mailBodyOf({ ...service, baseUrl }, mail) });
}
