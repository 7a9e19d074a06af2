/** The Fastify instance and the node:http server below it: limits, request ids, and published documents before routing. */
import { createServer, type IncomingMessage, type RequestListener } from "node:http";
import type { Socket } from "node:net";
import Fastify, { type FastifyInstance } from "fastify";
import type { AdmissionLimits } from "./admission/admission-limits.ts";
import { boundedHandler } from "./admission/bounded-handler.ts";
import { noteRequest } from "./admission/connection-guard.ts";
import type { Overloaded } from "./admission/places.ts";
import type { DirectCalls } from "./calls/direct-calls.ts";
import { keepRawQuery } from "./form-body.ts";
import { clientAddresses, setAddressReader } from "./listeners/client-address.ts";
import { lingerAfter } from "./listeners/lingering-close.ts";
import { spareNewConnections } from "./listeners/new-connections.ts";
import { pipelineLimit } from "./listeners/pipelining.ts";
import { serverBounds } from "./listeners/server-bounds.ts";
import type { RefuseMalformedPath } from "./malformed-path.ts";
import type { Parts } from "./parts.ts";
import type { PublishedDocuments } from "./published-documents.ts";
import { REQUEST_ID_HEADER, type RequestReferences } from "./request-references.ts";

export const BODY_LIMIT = 64 * 1024;
/** Of a path: an email address (RFC 5321 §4.5.3.1.3). */
const LONGEST_PARAMETER = 254;
const CLOSE_IDLE_MS = 50;
/** An event of the server: from now on every answer says that its connection ends. */
export const STOPPING = "stopping";

export interface HttpServerOptions {
  readonly references: Pick<RequestReferences, "idOf">;
  /** Addresses and networks whose `X-Forwarded-*` headers count. */
  readonly trustedProxies: readonly string[];
  readonly refuseMalformedPath: RefuseMalformedPath;
  readonly documents: PublishedDocuments;
  readonly calls: DirectCalls;
  readonly parts: Pick<Parts, "answer">;
  /** For tests. */
  readonly admission?: AdmissionLimits | undefined;
  /** Of every answer, names and values in turn. */
  readonly headers: readonly string[];
  /** Counts what was refused because there was too much at once. */
  onRefused(error: Overloaded): void;
}

type SharedOptions = Pick<HttpServerOptions, "references" | "trustedProxies" | "refuseMalformedPath">;

/** What a request meets alike in the service itself and in each of its parts. */
const shared = ({ references, trustedProxies, refuseMalformedPath }: SharedOptions) => ({
  logger: false as const,
  genReqId: references.idOf,
  trustProxy: trustedProxies.length > 0 ? [...trustedProxies] : false,
  bodyLimit: BODY_LIMIT,
  return503OnClosing: false,
  // HEAD must be safe, and a GET that issues codes or signs out is not: only documents and health checks accept it.
  exposeHeadRoutes: false,
  schemaController: { compilersFactory: noSchemas },
  routerOptions: {
    maxParamLength: LONGEST_PARAMETER,
    querystringParser: keepRawQuery,
    ignoreTrailingSlash: false,
  },
  frameworkErrors: refuseMalformedPath,
});

/** For a part of the service, whose requests come from the service's server. */
export const createPart = (options: SharedOptions): FastifyInstance =>
  Fastify({ ...shared(options), serverFactory: () => createServer() }) as unknown as FastifyInstance;

export function createFastify(options: HttpServerOptions): FastifyInstance {
  const {
    references,
    trustedProxies,
    documents,
    calls,
    parts,
    admission: limits,
    onRefused,
    headers,
  } = options;
  const admits = pipelineLimit();
  const readAddress = clientAddresses(trustedProxies);
  return Fastify({
    ...shared(options),
    requestTimeout: serverBounds.requestTimeout,
    connectionTimeout: 0,
    keepAliveTimeout: serverBounds.keepAliveTimeout,
    forceCloseConnections: "idle",
    serverFactory: (handler, serverOptions) => {
      const answer: RequestListener = (request, response) => {
        setAddressReader(request, readAddress);
        if (calls.answer(request, response) || parts.answer(request, response)) return;
        handler(request, response);
      };
      let stopping = false;
      const bounded = boundedHandler(answer, {
        ...{ limits, onRefused, headers, refuseBrowser: handler },
        idOf: references.idOf,
        isStopping: () => stopping,
      });
      const server = createServer({ ...serverOptions, ...serverBounds }, (request, response) => {
        noteRequest(request, response);
        if (mayBeTooLarge(request)) lingerAfter(request);
        if (!admits(request, response)) return;
        if (!documents.answer(request, response)) bounded.answer(request, response);
      });
      server.on("connection", bounded.connected);
      server.once(STOPPING, () => {
        stopping = true;
      });
      spareNewConnections(server);
      return server;
    },
    clientErrorHandler: answerUnreadable,
  }) as unknown as FastifyInstance;
}

const mayBeTooLarge = ({ headers }: IncomingMessage): boolean =>
  headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > BODY_LIMIT;

/** Bodies are validated by `api/validation.ts`, answers are written by handlers: the framework's own two compilers stay unloaded. */
const noSchemas = { buildValidator: refuseSchema, buildSerializer: refuseSchema };

function refuseSchema(): never {
  throw new Error("A route has no schema of the framework's");
}

const unreadable: Readonly<Record<string, readonly [status: string, code: string, title: string]>> = {
  HPE_HEADER_OVERFLOW: [
    "431 Request Header Fields Too Large",
    "headers-too-large",
    "The headers are too large",
  ],
  ERR_HTTP_REQUEST_TIMEOUT: ["408 Request Timeout", "timeout", "The request timed out"],
};

/** What is no HTTP: there is no request to answer, and no id. The form of the answer is that of every other. */
function answerUnreadable(this: unknown, error: Error & { code: string }, socket: Socket): void {
  if (error.code === "ECONNRESET" || socket.destroyed || !socket.writable) {
    socket.destroy();
    return;
  }
  const [status, code, title] = unreadable[error.code] ?? [
    "400 Bad Request",
    "malformed",
    "The request is malformed",
  ];
  const problem = {
    type: `urn:signet:error:${code}`,
    title,
    status: Number(status.slice(0, 3)),
    instance: "none",
  };
  const body = JSON.stringify(problem);
  socket.end(
    `HTTP/1.1 ${status}\r\nContent-Type: application/problem+json\r\nContent-Length: ${body.length}\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n${body}`,
  );
}

/** Names and values in turn. */
export const hsts = ["strict-transport-security", "max-age=63072000; includeSubDomains"] as const;

/** Also of what is refused before its handler. */
export function sendRequestIds(app: FastifyInstance): void {
  app.addHook("onRequest", (request, reply, done) => {
    reply.header(REQUEST_ID_HEADER, request.id);
    done();
  });
}

export function sendHsts(app: FastifyInstance): void {
  app.addHook("onRequest", (_request, reply, done) => {
    reply.header(...hsts);
    done();
  });
}

/** A keep-alive connection becomes idle after its last response, and would otherwise hold up the shutdown. */
export function closeIdleConnectionsOnShutdown(app: FastifyInstance): void {
  let timer: NodeJS.Timeout | undefined;
  app.addHook("preClose", (done) => {
    timer = setInterval(() => app.server.closeIdleConnections(), CLOSE_IDLE_MS);
    done();
  });
  app.addHook("onClose", async () => clearInterval(timer));
}

/**
 * No id, name or token contains NUL, and PostgreSQL can't store one in text: such a path names nothing. The organisation's
 * lookup rejects its own parameter; queries and form bodies are checked where they are parsed.
 */
export function rejectNulInPaths(app: FastifyInstance): void {
  app.addHook("onRequest", (request, reply, done) => {
    const { org: _, ...others } = (request.params ?? {}) as Readonly<Record<string, string>>;
    if (Object.values(others).some((value) => value.includes("\0"))) reply.callNotFound();
    else done();
  });
}
