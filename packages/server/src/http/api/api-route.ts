/**
 * One operation of a JSON interface: who may call it, what goes in, what comes out. The same record registers the route
 * and describes it in /openapi.json, so that neither can be without the other.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Static, TSchema } from "typebox";
import { queryOf } from "../form-body.ts";
import { invalid, malformed } from "./api-error.ts";
import { parseJson, rawBody } from "./json-body.ts";
import { validator } from "./validation.ts";

/** What a caller shows; `link` and `session-key` stand in the address or the body. */
export type Credential = "administrator" | "system-account" | "session-key" | "link" | "none";

export interface Answer {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** The handler has answered already, with what is no JSON: a page or a redirect for a browser. */
  readonly isSent?: true;
  /** Members of the body that are told this once: where the answer is given again they are null. */
  readonly shownOnce?: readonly string[];
}

export interface Operation {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  /** As Fastify writes it. */
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  /** What a caller should know beyond the summary. */
  readonly description?: string;
  readonly tag: string;
  readonly credential: Credential;
  /** Its door takes the strict form of signature alone. */
  readonly strictOnly?: true;
  readonly query?: TSchema;
  readonly body?: TSchema;
  /** All of its members may be left out, and so may the body itself. */
  readonly bodyOptional?: boolean;
  /** By status, without the errors that routes of its kind have in common: /openapi.json adds these. */
  readonly answers: Readonly<Record<number, { readonly description: string; readonly schema?: TSchema }>>;
  /** Statuses of the errors that only this route has, e.g. 403 or 410. */
  readonly errors?: readonly number[];
  /** An example of the body. */
  readonly example?: unknown;
  /** How errors are told: problem documents (RFC 9457) when left out, or the `error` of OAuth. */
  readonly errorForm?: "oauth";
}

export interface Call<Q, B, C, W = undefined> {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Q;
  readonly body: B;
  readonly caller: C;
  /** The transaction that keeps the act and its answer together; the act happens in it and nowhere else. */
  readonly within: W | undefined;
}

/** `W` is what the act happens in, when its answer is kept with it. */
export type Run<W> = (within?: W) => Promise<Answer>;

export interface ApiDoor<C, W = undefined> {
  /** Who calls, by the bytes as they came. @throws ApiError 401 */
  authenticate(request: FastifyRequest, raw: Buffer): Promise<C>;
  /** Whether the caller may do this, now that the body can be read. @throws ApiError 401 */
  authorise?(caller: C, request: FastifyRequest, body: unknown): Promise<C>;
  /** Gives a POST with an `Idempotency-Key` the answer that it had before. */
  repeat?(caller: C, request: FastifyRequest, raw: Buffer, run: Run<W>): Promise<Answer>;
}

export interface ApiScope {
  readonly app: FastifyInstance;
  /** Hears of every operation as it is registered. */
  describe(operation: Operation): void;
}

type Of<S> = S extends TSchema ? Static<S> : undefined;

/** Members that a client may send back as it read them, though it cannot change them; null means absent. */
export interface Lenient {
  readonly readOnly: readonly string[];
}

export function apiRoute<
  C,
  Q extends TSchema | undefined = undefined,
  B extends TSchema | undefined = undefined,
  W = undefined,
>(
  { app, describe }: ApiScope,
  door: ApiDoor<C, W>,
  operation: Omit<Operation, "query" | "body"> & {
    readonly query?: Q;
    readonly body?: B;
    readonly lenient?: Lenient;
  },
  handler: (call: Call<Of<Q>, Of<B>, C, W>) => Promise<Answer>,
): void {
  const { method, path, query, body, lenient, bodyOptional = false } = operation;
  const nullable = Object.keys((body as { properties?: object } | undefined)?.properties ?? {});
  describe(operation as Operation);
  const checkQuery = query && validator(query, (at) => `?${at.slice(1)}`);
  const checkBody = body && validator(body);
  app.route({
    method,
    url: path,
    handler: async (request, reply) => {
      const raw = rawBody(request);
      const known = await door.authenticate(request, raw);
      const sent = parseJson(raw);
      const caller = door.authorise ? await door.authorise(known, request, sent) : known;
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
      } as Omit<Call<Of<Q>, Of<B>, C, W>, "within">;
      const run: Run<W> = (within) => handler({ ...call, within });
      const answer =
        method === "POST" && door.repeat ? await door.repeat(caller, request, raw, run) : await run();
      await send(reply, answer);
      return reply;
    },
  });
}

async function send(reply: FastifyReply, { status, body, headers, isSent }: Answer): Promise<void> {
  if (isSent) return;
  reply.code(status).headers({ "cache-control": "no-store", ...headers });
  if (body === undefined) await reply.send();
  else await reply.type("application/json; charset=utf-8").send(JSON.stringify(body));
}

function readQuery(request: FastifyRequest, check: ((value: unknown) => unknown) | undefined): unknown {
  const { values, repeated } = queryOf(request);
  for (const name of repeated)
    throw invalid([{ path: `?${name.slice(0, 64)}`, message: "came more than once" }]);
  return check?.(Object.fromEntries(values));
}

function readBody(
  sent: unknown,
  check: ((value: unknown) => unknown) | undefined,
  lenient: (Lenient & { readonly nullable: readonly string[] }) | undefined,
): unknown {
  if (!check) {
    if (sent !== undefined) throw invalid([{ path: "", message: "no body is expected here" }]);
    return undefined;
  }
  if (sent === undefined) throw malformed("A JSON body is expected.");
  return check(lenient ? withoutReadOnly(sent, lenient) : sent);
}

/** A null is dropped where the member is known: what is not is refused, whatever it holds. */
function withoutReadOnly(
  sent: unknown,
  { readOnly, nullable }: Lenient & { readonly nullable: readonly string[] },
): unknown {
  if (typeof sent !== "object" || sent === null || Array.isArray(sent)) return sent;
  const isSent = ([name, value]: [string, unknown]) =>
    !readOnly.includes(name) && !(value === null && nullable.includes(name));
  return Object.fromEntries(Object.entries(sent).filter(isSent));
}
