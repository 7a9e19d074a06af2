/** Requests pass the admission before they reach Fastify; health checks do not, and published documents were answered before. */
import type { IncomingMessage, RequestListener } from "node:http";
import { REQUEST_ID_HEADER, type RequestReferences } from "../request-references.ts";
import { type AdmissionLimits, createAdmission } from "./admission.ts";
import { organisationLanes } from "./organisation-lanes.ts";
import { Overloaded } from "./places.ts";
import { type Bounds, Visit } from "./visit.ts";

export const RETRY_AFTER_SECONDS = 1;
export const PAGES_PER_SECOND = 100;
const EXEMPT = new Set(["/livez", "/healthz", "/readyz"]);

/** Those that are handed on only so that they get the page which says so. */
const refused = new WeakSet<IncomingMessage>();

export const isRefused = (request: IncomingMessage): boolean => refused.has(request);

export interface BoundedHandlerOptions extends Pick<RequestReferences, "idOf"> {
  readonly limits?: AdmissionLimits | undefined;
  onRefused(error: Overloaded): void;
  /** Of every answer of the service, names and values in turn. */
  readonly headers: readonly string[];
  /** Answers a browser's refused request, with the page that any failure has. */
  readonly refuseBrowser: RequestListener;
  /** For tests. */
  now?(): number;
}

export function boundedHandler(
  handler: RequestListener,
  { limits, onRefused, headers, refuseBrowser, idOf, now = () => performance.now() }: BoundedHandlerOptions,
): RequestListener {
  const overloaded = new Overloaded();
  const mayRender = pageBudget(now);
  const bounds: Bounds = {
    admission: createAdmission(limits, now),
    lanes: organisationLanes(),
    handle: handler,
    refuse: (request, response) => {
      onRefused(overloaded);
      if (wantsPage(request) && mayRender()) {
        refused.add(request);
        return refuseBrowser(request, response);
      }
      const id = idOf(request);
      const body = `${bodyStart}${id}${bodyEnd}`;
      const own = ["Content-Type", mediaTypeFor(request), REQUEST_ID_HEADER, id, ...headers];
      response.writeHead(503, [...refusalHeaders, "Content-Length", String(body.length), ...own]);
      response.end(body, "latin1");
    },
  };
  return (request, response) => {
    if (EXEMPT.has(pathOf(request))) return handler(request, response);
    // Before it is begun: the handler may wait, or fail, at once.
    new Visit(bounds, request, response).begin();
  };
}

/** A page costs as much as the work that it refuses: beyond these in a second, browsers get what programs get. */
function pageBudget(now: () => number): () => boolean {
  let since = now();
  let rendered = 0;
  return () => {
    if (now() - since >= 1_000) [since, rendered] = [now(), 0];
    rendered++;
    return rendered <= PAGES_PER_SECOND;
  };
}

const wantsPage = ({ headers }: IncomingMessage): boolean => headers.accept?.includes("text/html") === true;

function pathOf({ url = "" }: IncomingMessage): string {
  const query = url.indexOf("?");
  return query === -1 ? url : url.slice(0, query);
}

/**
 * Members of RFC 9457 and of RFC 6749 §5.2, of which either reader ignores the other's, around the request's id: the log counts
 * refusals, but a proxy's has each.
 */
const [bodyStart = "", bodyEnd = ""] = JSON.stringify({
  type: "urn:signet:error:unavailable",
  title: "The service is temporarily unavailable",
  status: 503,
  instance: "<id>",
  error: "temporarily_unavailable",
  error_description: "The service is temporarily unavailable",
}).split("<id>");
const mediaTypeFor = ({ url = "" }: IncomingMessage): string =>
  url.startsWith("/api/") || url.startsWith("/legacy/") ? "application/problem+json" : "application/json";

/** A flat list, which node:http writes fastest. Any origin may read it: it tells nothing. */
const refusalHeaders = [
  ["Cache-Control", "no-store"],
  ["Retry-After", String(RETRY_AFTER_SECONDS)],
  ["X-Content-Type-Options", "nosniff"],
  ["Access-Control-Allow-Origin", "*"],
  ["Access-Control-Expose-Headers", "Retry-After"],
].flat();
