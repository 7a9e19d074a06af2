/**
 * Parts of the service whose routes are registered when the first request for one of their addresses comes. Most of a start,
 * and of what a process keeps in memory for its routes, is the console's and the APIs', and many a process serves tokens alone
 * (docs/decisions/2026-11-29-parts-on-demand.md). A part is a framework instance without a server of its own.
 */
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { FastifyInstance } from "fastify";

export interface Part {
  /** Paths that are the part's, with all below them; no other part and no route of the service itself has one there. */
  readonly prefixes: readonly string[];
  /** Parts that are opened before it. */
  readonly after: readonly Part[];
  /** Registers its routes. Not called again when it succeeds. */
  open(): Promise<FastifyInstance>;
}

export interface Parts {
  /** Returns whether it took the request. */
  answer(request: IncomingMessage, response: ServerResponse): boolean;
  /** @throws what kept one of them from opening */
  openAll(): Promise<void>;
  close(): Promise<void>;
}

interface Opening {
  takes(path: string): boolean;
  /** Once it is open. */
  route(): RequestListener | undefined;
  open(): Promise<FastifyInstance>;
  close(): Promise<void>;
}

/** @param fail answers a request whose part did not open: a fault of the service, tried again by the next request */
export function openParts(
  parts: readonly Part[],
  fail: (error: unknown, request: IncomingMessage, response: ServerResponse) => void,
): Parts {
  const openings = new Map<Part, Opening>();
  const openOther = async (other: Part): Promise<void> => void (await openings.get(other)?.open());
  for (const part of parts) openings.set(part, opening(part, openOther));
  const all = [...openings.values()];
  return {
    answer: (request, response) => {
      const path = pathOf(request.url ?? "");
      const asked = all.find(({ takes }) => takes(path));
      if (asked === undefined) return false;
      const route = asked.route();
      if (route) route(request, response);
      else
        asked.open().then(
          (app) => app.routing(request, response),
          (error: unknown) => fail(error, request, response),
        );
      return true;
    },
    openAll: async () => void (await Promise.all(all.map((one) => one.open()))),
    close: async () => void (await Promise.all(all.map((one) => one.close()))),
  };
}

/** Opened once for all who ask at the same time. */
function opening(part: Part, openOther: (other: Part) => Promise<void>): Opening {
  let app: Promise<FastifyInstance> | undefined;
  let route: RequestListener | undefined;
  const begin = async () => {
    for (const other of part.after) await openOther(other);
    const opened = await part.open();
    await opened.ready();
    route = opened.routing;
    return opened;
  };
  return {
    takes: isAmong(part.prefixes),
    route: () => route,
    open: () => {
      app ??= begin().catch((error: unknown) => {
        app = undefined;
        throw error;
      });
      return app;
    },
    close: async () => {
      const opened = await app?.catch(() => undefined);
      await opened?.close();
    },
  };
}

const isBelow = (path: string, prefix: string): boolean =>
  path.startsWith(prefix) && (path.length === prefix.length || "/?#".includes(path.charAt(prefix.length)));

/**
 * As the router reads it: absolute addresses (RFC 9112 §3.2.2) and encoded letters lead to the same route, whatever the query holds.
 */
function pathOf(url: string): string {
  const address = url.startsWith("/") ? url : url.replace(/^https?:\/\/[^/]*/i, "");
  if (!address.includes("%")) return address;
  const path = address.split(/[?#]/, 1)[0] ?? "";
  try {
    return decodeURI(path);
  } catch {
    return path;
  }
}

/** Keeps a route from being registered where no request would find it. @throws the address */
export function checkAddresses(app: FastifyInstance, isOurs: (path: string) => boolean): void {
  app.addHook("onRoute", ({ path }) => {
    if (!isOurs(path)) throw new Error(`No request would reach ${path}: its part has other addresses`);
  });
}

export const isAmong = (prefixes: readonly string[]) => (path: string) =>
  prefixes.some((prefix) => isBelow(path, prefix));
