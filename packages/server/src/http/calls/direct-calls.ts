/**
 * The busiest requests, answered before the framework's router: its routing, request, reply, hooks and body parser cost more
 * than the rest of such a request (docs/decisions/2026-11-27-hot-path.md). This way refuses nothing. It takes the ordinary
 * request alone, and leaves whatever is odd to the framework's route of the same handler: another spelling of the address, a
 * query, an Origin, a body that is no form of a known length, a service that is closing.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Form } from "@signet/protocol/form";
import { latePlace, leavePlace } from "../admission/places.ts";
import { EMPTY_FORM, readForm } from "../form-body.ts";
import { addressOf } from "../listeners/client-address.ts";
import { orgIdIn, type RequestLine, type RequestMarks, toMilliseconds } from "../request-log.ts";
import { REQUEST_ID_HEADER, type RequestReferences, traceIdIn } from "../request-references.ts";
import { type Answer, type CallHandler, writeAnswer } from "./call.ts";

export interface DirectCalls {
  /** @param path its parameters are ids */
  add(method: "GET" | "POST", path: string, handler: CallHandler): void;
  /** Returns whether it took the request. */
  answer(request: IncomingMessage, response: ServerResponse): boolean;
  /** Leaves every request from now on to the framework. */
  close(): void;
}

export interface DirectCallsOptions extends Pick<RequestReferences, "idOf" | "parentOf"> {
  readonly bodyLimit: number;
  /** Of every answer of the service. */
  readonly headers: readonly string[];
  /** What the endpoints' error handler answers. */
  errorAnswer(error: unknown, requestId: string): Answer;
  /** Runs the handler as a part of its request. */
  during<T>(request: RequestMarks, work: () => T): T;
  /** A fault of this way itself. */
  fail(error: unknown): void;
  log(line: RequestLine): void;
}

interface DirectRoute {
  readonly route: string;
  /** Of the parameters, in their order. */
  readonly names: readonly string[];
  readonly handler: CallHandler;
}

const PARAMETERS = /:(\w+)/g;
const IDS = /(?<=\/)[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(?=\/|$)/g;
const MAX_LENGTH = 200;

/** As clients write it; a parameter that means nothing may come along (WHATWG URL §5.2 is always UTF-8). */
const FORM_TYPES: ReadonlySet<string> = new Set([
  "application/x-www-form-urlencoded",
  "application/x-www-form-urlencoded;charset=UTF-8",
  "application/x-www-form-urlencoded;charset=utf-8",
  "application/x-www-form-urlencoded; charset=UTF-8",
  "application/x-www-form-urlencoded; charset=utf-8",
]);

export function directCalls(options: DirectCallsOptions): DirectCalls {
  /** By method and path, with a colon for each parameter. */
  const routes = new Map<string, DirectRoute>();
  let isClosed = false;
  return {
    add: (method, path, handler) => {
      const names = [...path.matchAll(PARAMETERS)].map(([, name = ""]) => name);
      routes.set(`${method} ${path.replaceAll(PARAMETERS, ":")}`, { route: path, names, handler });
    },
    answer: (request, response) => {
      const { method = "", url = "", headers } = request;
      if (isClosed || url.length > MAX_LENGTH) return false;
      const ids: string[] = [];
      const path = url.replace(IDS, (id) => {
        ids.push(id);
        return ":";
      });
      const found = routes.get(`${method} ${path}`);
      // A path that has the colon itself has fewer ids.
      if (!found || ids.length !== found.names.length) return false;
      if (headers.origin !== undefined || headers["transfer-encoding"] !== undefined) return false;
      const length = headers["content-length"];
      const isTaken =
        method === "GET" ? length === undefined : isShortForm(headers["content-type"], length, options);
      if (isTaken) take(options, found, { request, response, ids });
      return isTaken;
    },
    close: () => {
      isClosed = true;
    },
  };
}

const isShortForm = (
  type: string | undefined,
  length: string | undefined,
  { bodyLimit }: DirectCallsOptions,
): boolean => type !== undefined && FORM_TYPES.has(type) && Number(length) > 0 && Number(length) <= bodyLimit;

interface Taken {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly ids: readonly string[];
}

function take(options: DirectCallsOptions, { route, names, handler }: DirectRoute, taken: Taken): void {
  const { request, response, ids } = taken;
  const started = performance.now();
  const requestId = options.idOf(request);
  const { headers, method = "" } = request;
  const params: Record<string, string> = {};
  for (const [at, name] of names.entries()) params[name] = ids[at] ?? "";
  const traceParent = options.parentOf(request);
  const marks: RequestMarks = {
    ...{ requestId, userAgent: headers["user-agent"], method, route, traceParent, clientId: undefined },
    orgId: orgIdIn(params["org"]),
    traceId: traceIdIn(traceParent),
    onAnswered: undefined,
    // From here on, and not in the parser's events, which have lost what came before.
    onWait: () => leavePlace(response),
  };
  logAtEnd(response, (status) => {
    marks.onAnswered?.(status);
    options.log({
      ...{ requestId, method, route, status },
      durationMs: toMilliseconds(performance.now() - started),
      orgId: marks.orgId,
      clientId: marks.clientId,
      address: addressOf({ raw: request }),
      traceId: marks.traceId,
    });
  });
  const own = [...options.headers, REQUEST_ID_HEADER, requestId];
  const answer = async () => {
    let form: Form;
    try {
      form = method === "GET" ? EMPTY_FORM : readForm(await readBody(request));
    } catch (error) {
      // As the framework does: more may come of a body that was not read to its end.
      return writeAnswer(response, options.errorAnswer(error, requestId), [...own, "connection", "close"]);
    }
    const call = { raw: request, requestId, route, params, headers, form, query: () => EMPTY_FORM };
    const begun = latePlace(response)?.then(() => handler(call)) ?? handler(call);
    const answered = await begun.catch((error: unknown) => options.errorAnswer(error, requestId));
    writeAnswer(response, answered, own);
  };
  options.during(marks, answer).catch(options.fail);
}

function readBody(request: IncomingMessage): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("error", (error) => reject(Object.assign(error, { statusCode: 400 })));
    request.on("end", () => {
      const [first, ...others] = chunks;
      resolve((first && others.length === 0 ? first : Buffer.concat(chunks)).toString("utf8"));
    });
  });
}

/** Once the answer is sent, or has failed. To take the listeners off again would cost more than the line. */
function logAtEnd(response: ServerResponse, log: (status: number) => void): void {
  let isLogged = false;
  const end = () => {
    if (isLogged) return;
    isLogged = true;
    log(response.statusCode);
  };
  response.on("finish", end);
  response.on("error", end);
}
