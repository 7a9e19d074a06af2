/** The service as a list: hooks and error handlers first, then the modules in the order in which they are registered. */
import type { IncomingMessage, ServerResponse } from "node:http";
import cookie from "@fastify/cookie";
import type { FastifyInstance } from "fastify";
import { duringRequest } from "./core/audit/audited-request.ts";
import { PasswordQueueFull } from "./core/passwords/password-hasher.ts";
import { networkPrefix } from "./core/rate-limits/rate-limits.ts";
import { rateLimitRefusals } from "./core/rate-limits/refusals.ts";
import { isDatabaseUnavailable } from "./db/database-errors.ts";
import { admissionLimitsOf } from "./http/admission/admission-limits.ts";
import { isRefused } from "./http/admission/bounded-handler.ts";
import { latePlace, leavePlace, Overloaded } from "./http/admission/places.ts";
import { RETRY_AFTER_SECONDS } from "./http/admission/refusal.ts";
import { writeAnswer } from "./http/calls/call.ts";
import { type DirectCalls, type DirectCallsOptions, directCalls } from "./http/calls/direct-calls.ts";
import {
  type ErrorHandler,
  type ErrorHandlerDeps,
  notFoundHandler,
  oauthErrorAnswer,
  pageErrorHandler,
  problemErrorAnswer,
  problemErrorHandler,
  type RenderErrorPage,
} from "./http/error-handlers.ts";
import { acceptForms } from "./http/form-body.ts";
import { boundConnections, type CutConnections } from "./http/listeners/connection-bounds.ts";
import { malformedPaths, type RefuseMalformedPath } from "./http/malformed-path.ts";
import { refuseOtherMethods } from "./http/method-not-allowed.ts";
import { checkAddresses, isAmong, openParts, type Part } from "./http/parts.ts";
import { publishedDocuments } from "./http/published-documents.ts";
import {
  logRequests,
  logServedDocuments,
  orgIdIn,
  type RequestLine,
  type RequestMarks,
  setMarks,
} from "./http/request-log.ts";
import {
  REQUEST_ID_HEADER,
  type RequestReferences,
  requestReferences,
  traceIdIn,
} from "./http/request-references.ts";
import {
  BODY_LIMIT,
  closeIdleConnectionsOnShutdown,
  createFastify,
  createPart,
  hsts,
  rejectNulInPaths,
  sendHsts,
  sendRequestIds,
} from "./http/server.ts";
import { adminConsole, unknownConsoleAddresses } from "./modules/admin-console.ts";
import { apiV1 } from "./modules/api-v1.ts";
import { type AppContext, type AppOptions, browserDeps, type Module } from "./modules/app-context.ts";
import { clientRegistration } from "./modules/client-registration.ts";
import { deviceAdmin, deviceEnrolment } from "./modules/device-admin.ts";
import { errorPageRenderer } from "./modules/error-page.ts";
import { jsonApis } from "./modules/json-apis.ts";
import { ledger } from "./modules/ledger.ts";
import type { Service } from "./modules/open-service.ts";
import { openSovereign } from "./modules/open-sovereign.ts";
import { scim } from "./modules/scim.ts";
import {
  apiReference,
  assets,
  documentation,
  documents,
  downloads,
  healthChecks,
  landingPages,
  organisationImages,
} from "./modules/service-routes.ts";
import { accountPages, recoveryPages, signInPages } from "./modules/sign-in-pages.ts";
import { agentApi, sovereignAdmin, waitPages } from "./modules/sovereign.ts";
import { ssf } from "./modules/ssf.ts";
import { tokenEndpoints } from "./modules/token-endpoints.ts";
import { readLanguageChoice } from "./page-kit/language-choice.ts";
import { markChanges } from "./page-kit/old-reads.ts";
import { measureRequest } from "./telemetry/requests.ts";
import { currentTracing, type Tracing } from "./telemetry/tracing.ts";

/** Each in a scope of its own: with the body parsers, the error handler and the cookies that it asks for. */
const modules: readonly Module[] = [
  healthChecks,
  assets,
  downloads,
  documents,
  organisationImages,
  ledger,
  tokenEndpoints,
  clientRegistration,
  agentApi,
  deviceEnrolment,
  ssf,
  sovereignAdmin,
];

/** They share cookies, form bodies and the error page. */
const ownPages: readonly Module[] = [signInPages, accountPages, waitPages, recoveryPages, landingPages];

interface ListedPart {
  readonly prefixes: readonly string[];
  readonly modules: readonly Module[];
  readonly pages?: readonly Module[];
}

/** What waits for its first request (http/parts.ts). */
const listedParts: readonly ListedPart[] = [
  { prefixes: ["/legacy/api"], modules: [jsonApis] },
  { prefixes: ["/api/v1"], modules: [apiV1] },
  { prefixes: ["/scim/v2"], modules: [scim] },
  {
    prefixes: ["/oauth/manage", "/devices/manage", "/portal"],
    modules: [deviceAdmin, unknownConsoleAddresses],
    pages: [adminConsole],
  },
];

/** It lists the operations of all others. */
const referencePart: ListedPart = {
  prefixes: ["/docs", "/openapi.json"],
  modules: [documentation, apiReference],
};

export async function createApp(service: Service, options: AppOptions): Promise<FastifyInstance> {
  const { config, clock, changes } = service;
  const references = requestReferences(options.nodeName, config.trustedProxies);
  const published = publishedDocuments({ capacity: 10_000, clock, idOf: references.idOf });
  changes.subscribe((change) =>
    change === "everything" ? published.markAllStale() : published.evictOrganisation(change.orgId),
  );
  const errors = errorHandlerDeps(options);
  const isSecure = config.baseUrl.startsWith("https:");
  const headers = isSecure ? hsts : [];
  const calls = openDirectCalls(options, { errors, ...references, headers });
  const sovereign = await openSovereign(service);
  const context: AppContext = {
    ...{ service, options, errors, documents: published, calls, sovereign },
    browser: browserDeps(service, sovereign, errors),
    operations: [],
  };
  const renderErrorPage = errorPageRenderer(service);
  const log = { write: writeLine(options), traceOf: references.traceOf };
  const refuseMalformedPath = malformedPaths({ ...log, renderErrorPage, headers });
  const frame: Frame = { context, references, renderErrorPage, refuseMalformedPath, isSecure };
  const parts = openParts(partsOf(frame), failWith(errors, references.idOf, headers));
  const app = createFastify({
    ...{ references, trustedProxies: config.trustedProxies, refuseMalformedPath, headers },
    ...{ documents: published, calls, parts },
    admission: options.admission ?? admissionLimitsOf(config.workers),
    onRefused: refuseOverload(options),
  });
  app.addHook("onClose", () => sovereign.signing.close());
  logServedDocuments(app, published, options.logDocuments);
  closeIdleConnectionsOnShutdown(app);
  app.addHook("preClose", async () => calls.close());
  app.addHook("onClose", () => parts.close());
  const report = (cut: CutConnections) => options.logCutConnections?.(cut);
  const bounded = { exempt: config.trustedProxies, networkOf: networkPrefix, report };
  boundConnections(app.server, bounded, options.connectionBounds);
  const others = isAmong([...listedParts, referencePart].flatMap(({ prefixes }) => prefixes));
  checkAddresses(app, (path) => !others(path));
  await mountAll(app, frame, { prefixes: [], modules, pages: ownPages });
  if (options.onRoute) await parts.openAll();
  return app;
}

/** What the service itself and each of its parts have in common. */
interface Frame {
  readonly context: AppContext;
  readonly references: RequestReferences;
  readonly renderErrorPage: RenderErrorPage;
  readonly refuseMalformedPath: RefuseMalformedPath;
  readonly isSecure: boolean;
}

function partsOf(frame: Frame): Part[] {
  const { context } = frame;
  const frames = listedParts.map((): Frame => ({ ...frame, context: { ...context, operations: [] } }));
  const others = listedParts.map((listed, at): Part => {
    const own = frames[at] ?? frame;
    return { prefixes: listed.prefixes, after: [], open: () => openPart(own, listed) };
  });
  const operations = () => [frame, ...frames].flatMap((one) => one.context.operations);
  const reference: Part = {
    prefixes: referencePart.prefixes,
    after: others,
    open: () => openPart({ ...frame, context: { ...context, operations: operations() } }, referencePart),
  };
  return [...others, reference];
}

async function openPart(frame: Frame, listed: ListedPart): Promise<FastifyInstance> {
  const { references, context, refuseMalformedPath } = frame;
  const { trustedProxies } = context.service.config;
  const app = createPart({ references, trustedProxies, refuseMalformedPath });
  checkAddresses(app, isAmong(listed.prefixes));
  await mountAll(app, frame, listed);
  return app;
}

async function mountAll(app: FastifyInstance, frame: Frame, listed: ListedPart): Promise<void> {
  const { context, references, renderErrorPage } = frame;
  const { options, errors } = context;
  app.addHook("onRoute", ({ method, path }) => {
    for (const one of [method].flat()) options.onRoute?.({ method: one, path });
  });
  app.setErrorHandler(problemErrorHandler(errors));
  app.setNotFoundHandler(notFoundHandler(renderErrorPage));
  logRequests(app, { write: writeLine(options), traceOf: references.traceOf });
  sendRequestIds(app);
  // Before the hooks that answer.
  if (frame.isSecure) sendHsts(app);
  refuseMarked(app, renderErrorPage);
  rejectNulInPaths(app);
  refuseOtherMethods(app, renderErrorPage);
  markRequests(app, references);
  for (const mount of listed.modules) await app.register(async (scope) => mount(scope, context));
  const { pages: listedPages } = listed;
  if (listedPages)
    await app.register((scope) =>
      mountPages(scope, context, {
        pages: listedPages,
        showError: pageErrorHandler(errors, renderErrorPage),
      }),
    );
}

/** A browser's request that the admission refused gets the page of any other failure, wherever it was to go. */
function refuseMarked(app: FastifyInstance, render: RenderErrorPage): void {
  app.addHook("onRequest", (request, reply, done) => {
    if (!isRefused(request.raw)) return done();
    reply.header("retry-after", String(RETRY_AFTER_SECONDS));
    void render(request, reply, { status: 503 });
  });
}

/** With a span around it, where spans are wanted. */
function during<T>(marks: RequestMarks, work: () => T): T {
  const tracing = currentTracing();
  return tracing === undefined ? duringRequest(marks, work) : tracedDuring(tracing, marks, work);
}

const tracedDuring = <T>(tracing: Tracing, marks: RequestMarks, work: () => T): T =>
  tracing.request(marks, () => duringRequest(marks, work));

const refuseOverload = (options: AppOptions) => (error: Overloaded) => {
  rateLimitRefusals.at("requests-at-once").value++;
  options.logError(error, "admission", 503);
};

const writeLine = (options: AppOptions) => (line: RequestLine) => {
  options.logRequest(line);
  measureRequest(line);
};

function markRequests(app: FastifyInstance, { parentOf }: Pick<RequestReferences, "parentOf">): void {
  app.addHook("preValidation", (request, reply, done) => {
    const { org } = (request.params ?? {}) as { org?: string };
    const traceParent = parentOf(request.raw);
    const marks: RequestMarks = {
      ...{ requestId: request.id, userAgent: request.headers["user-agent"], clientId: undefined },
      ...{ method: request.method, route: request.routeOptions.url ?? "(none)", traceParent },
      orgId: orgIdIn(org),
      traceId: traceIdIn(traceParent),
      onAnswered: undefined,
      onWait: () => leavePlace(reply.raw),
    };
    setMarks(request.raw, marks);
    // After the body is parsed: the parser's events have lost what came before.
    const begin = () => during(marks, done);
    const place = latePlace(reply.raw);
    if (place) place.then(begin, done);
    else begin();
  });
}

/** A part that does not open is a fault of the service, whoever asks. */
const failWith =
  (errors: ErrorHandlerDeps, idOf: RequestReferences["idOf"], headers: readonly string[]) =>
  (error: unknown, request: IncomingMessage, response: ServerResponse) => {
    const id = idOf(request);
    writeAnswer(response, problemErrorAnswer(errors, error, id), [...headers, REQUEST_ID_HEADER, id]);
  };

const errorHandlerDeps = (options: AppOptions): ErrorHandlerDeps => ({
  isUnavailable: (error) =>
    isDatabaseUnavailable(error) || error instanceof PasswordQueueFull || error instanceof Overloaded,
  log: options.logError,
  refused: options.logRefusal,
});

function openDirectCalls(
  options: AppOptions,
  {
    errors,
    ...shared
  }: Pick<DirectCallsOptions, "idOf" | "parentOf" | "headers"> & { readonly errors: ErrorHandlerDeps },
): DirectCalls {
  const calls = directCalls({
    ...shared,
    bodyLimit: BODY_LIMIT,
    errorAnswer: (error, requestId) => oauthErrorAnswer(errors, error, requestId),
    during,
    fail: (error) => options.logError(error, "none", 500),
    log: writeLine(options),
  });
  if (options.isFrameworkAlone) calls.close();
  return calls;
}

async function mountPages(
  scope: FastifyInstance,
  context: AppContext,
  { pages, showError }: { readonly pages: readonly Module[]; readonly showError: ErrorHandler },
): Promise<void> {
  // Only pages parse cookies: the token endpoints don't pay for them.
  await scope.register(cookie);
  acceptForms(scope);
  readLanguageChoice(scope);
  markChanges(scope, context.service.database, context.service.config.baseUrl);
  scope.setErrorHandler(showError);
  for (const mount of pages) await scope.register(async (inner) => mount(inner, context));
}
