/**
 * One operation of a JSON API: its caller, its input, its responses. One record registers the route and describes it
 * in /openapi.json, so that neither exists without the other.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Static, TSchema } from "typebox";
import type { Answer as CallAnswer, CallHandler, Call as DirectCall } from "../calls/call.ts";
import { parseQuery } from "../form-body.ts";
import { invalid, malformed } from "./api-error.ts";
import { parseJson, rawBody } from "./json-body.ts";
import { validator } from "./validation.ts";

/** How a caller authenticates; `link` and `session-key` are in the path or body, `device-certificate` in TLS. */
export type Credential =
  | "administrator"
  | "system-account"
  | "access-token"
  | "session-key"
  | "link"
  | "device-certificate"
  | "none";

export interface Answer {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** The handler has sent the response itself: a page or a redirect for a browser. */
  readonly isSent?: true;
  /** Members of the body that a replayed response replaces with null. */
  readonly shownOnce?: readonly string[];
}

interface DescribedSuccess {
  readonly description: string;
  readonly schema?: TSchema;
  /** `application/json` when left out. */
  readonly contentType?: string;
}

export interface Operation {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** With Fastify's parameters, e.g. `/oauth/:org/token`. */
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly tag: string;
  readonly credential: Credential;
  /** Descriptions of optional request headers, by name. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly query?: TSchema;
  readonly body?: TSchema;
  /** All members of the body are optional, and so is the body. */
  readonly bodyOptional?: boolean;
  readonly lenient?: Lenient;
  /** By status, without the errors that all JSON operations share: /openapi.json adds those. */
  readonly answers: Readonly<Record<number, DescribedSuccess>>;
  /** Statuses of errors specific to this operation, e.g. 403 or 410. */
  readonly errors?: readonly number[];
  readonly example?: unknown;
  /** The form of errors: problem documents (RFC 9457) by default, or OAuth's `error`. */
  readonly errorForm?: "oauth";
}

export interface Call<Q, B, C, W = undefined> {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Q;
  readonly body: B;
  readonly caller: C;
  /** The transaction that stores the response for an `Idempotency-Key`; the handler writes in it and nowhere else. */
  readonly within: W | undefined;
  /** What `prepare` has found. */
  readonly prepared: unknown;
}

/** What is known before the transaction of a call. */
type Unprepared<Q, B, C, W> = Omit<Call<Q, B, C, W>, "within" | "prepared">;

/** A request of the framework, or one that came past its router. */
export type ApiRequest = Pick<
  FastifyRequest,
  "raw" | "id" | "method" | "headers" | "params" | "query" | "body"
>;

/** What a record's read is given. */
export type ReadCall<Q, C> = Pick<Call<Q, undefined, C>, "params" | "query" | "caller"> & {
  readonly request: ApiRequest;
};

/** Runs the handler. `W` is the transaction that also stores its response. */
export type Run<W> = (within?: W) => Promise<Answer>;

/** What an authenticator may know about the operation that is called. */
export type Authorised = Pick<Operation, "method" | "path" | "body" | "bodyOptional">;

export interface ApiAuthenticator<C, W = undefined> {
  /** Identifies the caller from the raw body. @throws ApiError 401 */
  authenticate(request: ApiRequest, raw: Buffer): Promise<C>;
  /** Checks the caller's permission once the body is parsed. @throws ApiError 401 */
  authorise?(caller: C, request: ApiRequest, body: unknown, operation: Authorised): Promise<C>;
  /** Replays the stored response to a POST with a known `Idempotency-Key`. */
  repeat?(caller: C, request: ApiRequest, raw: Buffer, run: Run<W>): Promise<Answer>;
}

export interface ApiScope {
  readonly app: FastifyInstance;
  /** Called for every operation as it is registered. */
  describe(operation: Operation): void;
  /** For reads that are many: answered before the framework's router. */
  readonly direct?: DirectReads;
}

export interface DirectReads {
  add(method: "GET", path: string, handler: CallHandler): void;
  /** What the scope's error handler answers. */
  errorAnswer(error: unknown, requestId: string): CallAnswer;
  /** Headers that the scope adds to every answer, errors included. */
  headersOf?(request: ApiRequest): Readonly<Record<string, string>>;
}

type Of<S> = S extends TSchema ? Static<S> : undefined;

/** Read-only members that a client may send back unchanged; null counts as absent. */
export interface Lenient {
  readonly readOnly: readonly string[];
}

type Described<Q, B> = Omit<Operation, "query" | "body"> & {
  readonly query?: Q;
  readonly body?: B;
};

interface ApiRoute<C, Q extends TSchema | undefined, B extends TSchema | undefined, W>
  extends Described<Q, B> {
  readonly authenticator: ApiAuthenticator<C, W>;
  /** Runs before the body is read. */
  onRequest?(request: ApiRequest): Promise<void>;
  /** Bytes; the server's limit when left out. */
  readonly bodyLimit?: number;
  /** What takes long, e.g. a password's hash: no transaction may be held meanwhile. Throwing refuses the call. */
  prepare?(call: Unprepared<Of<Q>, Of<B>, C, W>): Promise<unknown>;
  handler(call: Call<Of<Q>, Of<B>, C, W>): Promise<Answer>;
}

export function apiRoute<
  C,
  Q extends TSchema | undefined = undefined,
  B extends TSchema | undefined = undefined,
  W = undefined,
>(
  { app, describe }: ApiScope,
  { authenticator, handler, prepare, onRequest, bodyLimit, ...operation }: ApiRoute<C, Q, B, W>,
): void {
  describe(operation as Operation);
  const { method, path } = operation;
  app.route({
    ...{ method, url: path, handler: apiHandler(authenticator, operation, handler, prepare) },
    ...(onRequest ? { onRequest: (request) => onRequest(request) } : {}),
    ...(bodyLimit === undefined ? {} : { bodyLimit }),
  });
}

/** A read by id that is called by the thousand: registered for both ways (http/calls/direct-calls.ts). */
export function readRoute<C, Q extends TSchema | undefined = undefined, W = undefined>(
  api: ApiScope,
  {
    authenticator,
    handler,
    ...operation
  }: Omit<Described<Q, undefined>, "method"> & {
    readonly authenticator: ApiAuthenticator<C, W>;
    handler(call: ReadCall<Of<Q>, C>): Promise<Answer>;
  },
): void {
  const described = { ...operation, method: "GET" } as const;
  apiRoute<C, Q, undefined, W>(api, { ...described, authenticator, handler });
  const { direct } = api;
  if (!direct) return;
  const respond = responder<C, Q, undefined, W>(authenticator, described, handler);
  direct.add("GET", operation.path, async (call) => {
    const request = requestOf(call);
    const answered = await respond(request).then(toCallAnswer, (error: unknown) =>
      direct.errorAnswer(error, call.requestId),
    );
    const more = Object.entries(direct.headersOf?.(request) ?? {}).flat();
    return more.length === 0 ? answered : { ...answered, headers: [...answered.headers, ...more] };
  });
}

/** Without a query: whatever has one comes through the framework. */
const requestOf = ({ raw, requestId, headers, params }: DirectCall): ApiRequest => ({
  ...{ raw, id: requestId, method: raw.method ?? "", headers },
  ...{ params, query: {}, body: undefined },
});

const toCallAnswer = ({ status, headers = {}, body }: Answer): CallAnswer => {
  const type = body === undefined ? [] : ["content-type", JSON_TYPE];
  return {
    status,
    headers: ["cache-control", "no-store", ...Object.entries(headers).flat(), ...type],
    body: body === undefined ? "" : JSON.stringify(body),
  };
};

const JSON_TYPE = "application/json; charset=utf-8";

/** The handler alone, for paths that also serve pages. Whoever registers it describes the operation. */
export function apiHandler<
  C,
  Q extends TSchema | undefined = undefined,
  B extends TSchema | undefined = undefined,
  W = undefined,
>(
  authenticator: ApiAuthenticator<C, W>,
  operation: Described<Q, B>,
  handler: (call: Call<Of<Q>, Of<B>, C, W>) => Promise<Answer>,
  prepare?: (call: Unprepared<Of<Q>, Of<B>, C, W>) => Promise<unknown>,
): (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply> {
  const respond = responder(authenticator, operation, handler, prepare);
  return async (request, reply) => {
    await send(reply, await respond(request, reply));
    return reply;
  };
}

function responder<C, Q extends TSchema | undefined, B extends TSchema | undefined, W>(
  authenticator: ApiAuthenticator<C, W>,
  operation: Described<Q, B>,
  handler: (call: Call<Of<Q>, Of<B>, C, W>) => Promise<Answer>,
  prepare?: (call: Unprepared<Of<Q>, Of<B>, C, W>) => Promise<unknown>,
): (request: ApiRequest, reply?: FastifyReply) => Promise<Answer> {
  const { method, query, body, lenient, bodyOptional = false } = operation;
  const nullable = Object.keys((body as { properties?: object } | undefined)?.properties ?? {});
  const checkQuery = query && validator(query, (at) => `?${at.slice(1)}`);
  const checkBody = body && validator(body);
  return async (request, reply) => {
    const raw = rawBody(request);
    const known = await authenticator.authenticate(request, raw);
    const sent = parseJson(raw);
    const caller = authenticator.authorise
      ? await authenticator.authorise(known, request, sent, operation as Authorised)
      : known;
    const call = {
      request,
      reply,
      params: (request.params ?? {}) as Record<string, string>,
      query: readQuery(request, checkQuery),
      body: readBody(
        bodyOptional && sent === undefined ? {} : sent,
        checkBody,
        lenient && { ...lenient, nullable },
      ),
      caller,
    } as Unprepared<Of<Q>, Of<B>, C, W>;
    const prepared = await prepare?.(call);
    const run: Run<W> = (within) => handler({ ...call, within, prepared });
    return method === "POST" && authenticator.repeat
      ? authenticator.repeat(caller, request, raw, run)
      : run();
  };
}

async function send(reply: FastifyReply, { status, body, headers, isSent }: Answer): Promise<void> {
  if (isSent) return;
  reply.code(status).headers({ "cache-control": "no-store", ...headers });
  if (body === undefined) await reply.send();
  else await reply.type(JSON_TYPE).send(JSON.stringify(body));
}

function readQuery(request: ApiRequest, check: ((value: unknown) => unknown) | undefined): unknown {
  const { values, repeated } = parseQuery(request);
  for (const name of repeated) throw invalid([{ path: `?${name.slice(0, 64)}`, message: "is repeated" }]);
  return check?.(Object.fromEntries(values));
}

function readBody(
  sent: unknown,
  check: ((value: unknown) => unknown) | undefined,
  lenient: (Lenient & { readonly nullable: readonly string[] }) | undefined,
): unknown {
  if (!check) {
    if (sent !== undefined) throw invalid([{ path: "", message: "must be empty" }]);
    return undefined;
  }
  if (sent === undefined) throw malformed("The request needs a JSON body.");
  return check(lenient ? withoutReadOnly(sent, lenient) : sent);
}

/** Only known members may be null: an unknown member is rejected whatever its value. */
function withoutReadOnly(
  sent: unknown,
  { readOnly, nullable }: Lenient & { readonly nullable: readonly string[] },
): unknown {
  if (typeof sent !== "object" || sent === null || Array.isArray(sent)) return sent;
  const isSent = ([name, value]: [string, unknown]) =>
    !readOnly.includes(name) && !(value === null && nullable.includes(name));
  return Object.fromEntries(Object.entries(sent).filter(isSent));
}
