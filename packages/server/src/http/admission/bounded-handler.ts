/** Requests pass the admission before they reach Fastify; health checks do not, and published documents were answered before. */
import type { IncomingMessage, RequestListener } from "node:http";
import type { Socket } from "node:net";
import type { RequestReferences } from "../request-references.ts";
import { createAdmission } from "./admission.ts";
import type { AdmissionLimits } from "./admission-limits.ts";
import { type GuardOptions, guardConnection } from "./connection-guard.ts";
import { organisationLanes } from "./organisation-lanes.ts";
import { pacedRefusals } from "./paced-refusals.ts";
import { Overloaded } from "./places.ts";
import { mediaTypeFor, refusalBytes, writeRefusal } from "./refusal.ts";
import { type Bounds, Visit } from "./visit.ts";

export const PAGES_PER_SECOND = 100;
const EXEMPT = new Set(["/livez", "/healthz", "/readyz"]);

/** Those that are handed on only so that they get the page which says so. */
const refused = new WeakSet<IncomingMessage>();

export const isRefused = (request: IncomingMessage): boolean => refused.has(request);

export interface BoundedHandlerOptions {
  readonly limits?: AdmissionLimits | undefined;
  onRefused(error: Overloaded): void;
  /** Of every answer of the service, names and values in turn. */
  readonly headers: readonly string[];
  /** Answers a browser's refused request, with the page that any failure has. */
  readonly refuseBrowser: RequestListener;
  /** Of a request without a line of its own. */
  readonly idOf: RequestReferences["idOf"];
  /** Every refusal says that its connection ends then, which only node:http does. */
  isStopping(): boolean;
  /** For tests. */
  now?(): number;
}

export interface BoundedHandler {
  readonly answer: RequestListener;
  /** Of every new connection. */
  connected(socket: Socket): void;
}

export function boundedHandler(handler: RequestListener, options: BoundedHandlerOptions): BoundedHandler {
  const { limits, onRefused, headers, refuseBrowser, idOf, now = () => performance.now() } = options;
  const overloaded = new Overloaded();
  const mayRender = pageBudget(now);
  const [admission, lanes] = [createAdmission(limits, now), organisationLanes()];
  const guarding: GuardOptions = {
    isBusy: () => admission.isOverloaded() && !options.isStopping(),
    idOf,
    refuses: (url) => {
      const isRefused = mayGuard(url) && admission.refusesNow(lanes.laneOf({ url, headers: {} }));
      if (isRefused) onRefused(overloaded);
      return isRefused;
    },
    refusals: pacedRefusals(),
    refusal: refusalBytes({ mediaType: mediaTypeFor(""), headers }),
  };
  const bounds: Bounds = {
    ...{ admission, lanes, handle: handler },
    refuse: (request, response) => {
      onRefused(overloaded);
      if (wantsPage(request) && mayRender()) {
        refused.add(request);
        return refuseBrowser(request, response);
      }
      const { socket, method, url = "" } = request;
      writeRefusal(response, { id: idOf(request), mediaType: mediaTypeFor(url), headers });
      if (method === "POST" && mayGuard(url)) response.once("close", () => guardConnection(socket, guarding));
    },
  };
  return {
    answer: (request, response) => {
      if (EXEMPT.has(pathOf(request))) return handler(request, response);
      // Before it is begun: the handler may wait, or fail, at once.
      new Visit(bounds, request, response).begin();
    },
    connected: (socket) => {
      if (guarding.isBusy()) guardConnection(socket, guarding, true);
    },
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

/** What programs call, and what is answered in the same way for all of them. */
const mayGuard = (url: string): boolean => url.startsWith("/oauth/");
