/**
 * Discovery documents and key sets, cached as finished responses and answered before routing: they are requested far
 * more often than anything else and rarely change. The cache is bounded; whatever it lacks (another method, a query,
 * an organisation not requested lately) takes the normal route.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { sha256Base64url } from "@signet/protocol/hash";
import type { FastifyReply, FastifyRequest } from "fastify";
import { isMeasuring } from "../telemetry/families.ts";
import { measureRequest } from "../telemetry/requests.ts";
import type { IsUnavailable } from "./errors.ts";
import { inOrganisation, type OrganisationRoute } from "./organisation-lookup.ts";
import { REQUEST_ID_HEADER, type RequestReferences } from "./request-references.ts";
import { endWithBytes, sendBytes } from "./send-bytes.ts";

export interface PublishedDocument {
  readonly orgId: string;
  /** The same bytes for everyone: a caller who does not read them holds no copy. */
  readonly body: Buffer;
  /**
   * The bytes of a short one as a string of as many characters: node:http writes it and the head at once. What the kernel does not
   * take at once is copied for its caller.
   */
  readonly text?: string;
  readonly etag: string;
  /** A flat list, which node:http writes fastest. */
  readonly headers: readonly string[];
  /** Milliseconds; rebuilt after this time. */
  readonly staleAt: number;
}

export interface PublishedDocuments {
  /** Returns whether it answered the request. */
  answer(request: IncomingMessage, response: ServerResponse): boolean;
  /** Read before loading the records behind a document; see `put`. */
  mark(): number;
  /** Ignored when anything was evicted since the mark: the document may be built from stale records. */
  put(path: string, document: PublishedDocument, mark: number, route?: string): void;
  /** Also when stale. */
  cached(path: string): PublishedDocument | undefined;
  evictOrganisation(orgId: string): void;
  /** After a gap in the change feed: every document is rebuilt, but served stale while the database is unavailable. */
  markAllStale(): void;
  /** How many were answered since the last call: they have no log lines of their own. */
  takeCount(): number;
}

export interface PublishedDocumentsOptions extends Pick<RequestReferences, "idOf"> {
  readonly capacity: number;
  clock(): number;
}

export function publishedDocuments(options: PublishedDocumentsOptions): PublishedDocuments {
  const documents = new Map<string, PublishedDocument>();
  const paths = new Map<string, Set<string>>();
  /** Patterns, for metrics. */
  const routes = new Map<string, string>();
  const drop = (path: string) => {
    const { orgId } = documents.get(path) ?? {};
    documents.delete(path);
    routes.delete(path);
    if (orgId === undefined) return;
    const others = paths.get(orgId);
    others?.delete(path);
    if (others?.size === 0) paths.delete(orgId);
  };
  let count = 0;
  let evictions = 0;
  return {
    answer: (request, response) => {
      if (request.method !== "GET") return false;
      const document = documents.get(request.url ?? "");
      if (!document || document.staleAt <= options.clock()) return false;
      count++;
      const since = isMeasuring() ? performance.now() : 0;
      answerDocument(document, request, response, [REQUEST_ID_HEADER, options.idOf(request)]);
      if (since > 0) measureAnswer(routes.get(request.url ?? ""), response.statusCode, since);
      return true;
    },
    mark: () => evictions,
    put: (path, document, mark, route = "(document)") => {
      if (mark !== evictions) return;
      drop(path);
      if (documents.size >= options.capacity) drop(documents.keys().next().value as string);
      documents.set(path, document);
      routes.set(path, route);
      const { orgId } = document;
      paths.set(orgId, (paths.get(orgId) ?? new Set()).add(path));
    },
    cached: (path) => documents.get(path),
    evictOrganisation: (orgId) => {
      evictions++;
      for (const path of paths.get(orgId) ?? []) drop(path);
    },
    markAllStale: () => {
      evictions++;
      for (const [path, document] of documents) documents.set(path, { ...document, staleAt: 0 });
    },
    takeCount: () => {
      const taken = count;
      count = 0;
      return taken;
    },
  };
}

const measureAnswer = (route = "(document)", status: number, since: number): void =>
  measureRequest({ method: "GET", route, status, durationMs: performance.now() - since });

function answerDocument(
  { etag, headers, text, body }: PublishedDocument,
  request: IncomingMessage,
  response: ServerResponse,
  own: readonly string[],
): void {
  if (isNotModified(request.headers["if-none-match"], etag)) {
    const kept = ["ETag", etag, "Cache-Control", cacheControl, "Access-Control-Allow-Origin", "*"];
    response.writeHead(304, [...kept, ...own]);
    response.end();
    return;
  }
  response.writeHead(200, [...headers, ...own]);
  if (text === undefined) endWithBytes(response, body);
  else response.end(text, "latin1");
}

export const DOCUMENT_MAX_AGE_SECONDS = 300;
/** A safety net under the change feed: documents are rebuilt at least this often. */
export const DOCUMENT_LIFETIME_MS = 30_000;
const cacheControl = `public, max-age=${DOCUMENT_MAX_AGE_SECONDS}`;

/** Bytes. */
const MAX_TEXT = 8 * 1024;

/** @param content plain JSON */
export function publishedDocument(orgId: string, content: object, staleAt: number): PublishedDocument {
  const body = Buffer.from(JSON.stringify(content));
  const etag = `"${sha256Base64url(body).slice(0, 27)}"`;
  const headers = [
    ["Content-Type", "application/json"],
    ["Content-Length", String(body.length)],
    ["Cache-Control", cacheControl],
    ["ETag", etag],
    ["Access-Control-Allow-Origin", "*"],
    ["X-Content-Type-Options", "nosniff"],
  ].flat();
  const text = body.length <= MAX_TEXT ? { text: body.toString("latin1") } : {};
  return { orgId, body, ...text, etag, headers, staleAt };
}

export interface DocumentRouteDeps<O> {
  readonly documents: PublishedDocuments;
  readonly isUnavailable: IsUnavailable;
  find(orgId: string): Promise<O | undefined>;
}

/**
 * The normal route: HEAD, a query string, or the first request for a document. The document is cached under the path
 * in the metadata, so that other spellings can't fill the cache; while the database is unavailable, the cached one is
 * served.
 */
export function documentRoute<O>(
  { documents, isUnavailable, find }: DocumentRouteDeps<O>,
  build: (organisation: O, params: Readonly<Record<string, string>>) => Promise<PublishedDocument>,
): OrganisationRoute {
  return async (request, reply) => {
    const params = request.params as Record<string, string>;
    const path = (request.routeOptions.url ?? "").replace(/:(\w+)/g, (_, name: string) =>
      (params[name] ?? "").toLowerCase(),
    );
    const mark = documents.mark();
    const answer = inOrganisation(find, async ({ organisation }) => {
      const document = await build(organisation, params);
      documents.put(path, document, mark, request.routeOptions.url);
      await sendDocument(request, reply, document);
    });
    try {
      await answer(request, reply);
    } catch (error) {
      const cached = isUnavailable(error) ? documents.cached(path) : undefined;
      if (!cached) throw error;
      await sendDocument(request, reply, cached);
    }
  };
}

export async function sendDocument(
  request: FastifyRequest,
  reply: FastifyReply,
  document: PublishedDocument,
): Promise<void> {
  for (let index = 0; index + 1 < document.headers.length; index += 2) {
    const name = document.headers[index] ?? "";
    if (name !== "Content-Length") reply.header(name, document.headers[index + 1]);
  }
  if (isNotModified(request.headers["if-none-match"], document.etag)) await reply.code(304).send();
  else await sendBytes(reply, document.body);
}

/** RFC 9110 §13.1.2: a list of tags, possibly weak, or `*`. */
function isNotModified(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  return (
    header === etag ||
    header.split(",").some((tag) => tag.trim() === "*" || tag.trim().replace(/^W\//, "") === etag)
  );
}
