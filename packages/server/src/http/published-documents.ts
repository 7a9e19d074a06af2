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
  /** Ignored when the organisation's were evicted since the mark: the document may be built from stale records. */
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
  const kept = new Map<string, KeptDocument>();
  const paths = new Map<string, Set<string>>();
  const drop = (path: string) => {
    const orgId = kept.get(path)?.document.orgId;
    kept.delete(path);
    if (orgId === undefined) return;
    const others = paths.get(orgId);
    others?.delete(path);
    if (others?.size === 0) paths.delete(orgId);
  };
  let count = 0;
  const evictions = recentEvictions();
  return {
    answer: (request, response) => {
      if (request.method !== "GET") return false;
      const found = kept.get(request.url ?? "");
      if (!found || found.document.staleAt <= options.clock()) return false;
      count++;
      const since = isMeasuring() ? performance.now() : 0;
      answerDocument(found, request, response, options.idOf(request));
      if (since > 0) measureAnswer(found.route, response.statusCode, since);
      return true;
    },
    mark: evictions.mark,
    put: (path, document, mark, route = "(document)") => {
      if (evictions.since(mark, document.orgId)) return;
      drop(path);
      if (kept.size >= options.capacity) drop(kept.keys().next().value as string);
      kept.set(path, { document, route, head: [...document.headers, REQUEST_ID_HEADER, ""] });
      const { orgId } = document;
      paths.set(orgId, (paths.get(orgId) ?? new Set()).add(path));
    },
    cached: (path) => kept.get(path)?.document,
    evictOrganisation: (orgId) => {
      evictions.add(orgId);
      for (const path of paths.get(orgId) ?? []) drop(path);
    },
    markAllStale: () => {
      evictions.addAll();
      for (const [path, { document, ...rest }] of kept)
        kept.set(path, { ...rest, document: { ...document, staleAt: 0 } });
    },
    takeCount: () => {
      const taken = count;
      count = 0;
      return taken;
    },
  };
}

/** More than happen while a document is built. */
const REMEMBERED_EVICTIONS = 1_000;

/** Which organisations changed, and when. Of what is too long ago to be remembered, everybody is taken to have changed. */
function recentEvictions() {
  const latest = new Map<string, number>();
  let count = 0;
  let forgotten = 0;
  return {
    mark: () => count,
    since: (mark: number, orgId: string) => mark < forgotten || mark < (latest.get(orgId) ?? 0),
    add: (orgId: string) => {
      latest.delete(orgId);
      latest.set(orgId, ++count);
      if (latest.size <= REMEMBERED_EVICTIONS) return;
      const [[oldest, at] = ["", 0]] = latest;
      latest.delete(oldest);
      forgotten = at;
    },
    addAll: () => {
      forgotten = ++count;
    },
  };
}

interface KeptDocument {
  readonly document: PublishedDocument;
  /** The pattern, for metrics. */
  readonly route: string;
  /** Of every answer, the last place for its request's id: node:http makes text of it before the next one. */
  readonly head: string[];
}

const measureAnswer = (route: string, status: number, since: number): void =>
  measureRequest({ method: "GET", route, status, durationMs: performance.now() - since });

function answerDocument(
  { document: { etag, text, body }, head }: KeptDocument,
  request: IncomingMessage,
  response: ServerResponse,
  id: string,
): void {
  if (isNotModified(tagsIn(request), etag)) {
    const same = ["ETag", etag, "Cache-Control", cacheControl, "Access-Control-Allow-Origin", "*"];
    response.writeHead(304, [...same, REQUEST_ID_HEADER, id]);
    response.end();
    return;
  }
  head[head.length - 1] = id;
  response.writeHead(200, head);
  if (text === undefined) endWithBytes(response, body);
  else response.end(text, "latin1");
}

/** `headers`, which node:http makes for who asks for it, only for a request that has tags: few have. */
function tagsIn(request: IncomingMessage): string | undefined {
  const { rawHeaders } = request;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? "";
    if (name.length === TAGS.length && name.toLowerCase() === TAGS) return request.headers[TAGS];
  }
  return undefined;
}

const TAGS = "if-none-match";

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
  if (isNotModified(request.headers[TAGS], document.etag)) await reply.code(304).send();
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
