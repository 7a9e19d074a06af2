/**
 * 405 with `Allow` (RFC 9110 §15.5.6) for a known path with another method, on every route. Only the registered addresses are
 * looked at, never what their parameters name: an unknown organisation gets the same answer.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { RenderErrorPage } from "./error-handlers.ts";
import { sendProblem } from "./error-handlers.ts";
import { acceptsPage, readsNoPage } from "./program.ts";

interface RouteAddress {
  readonly path: string;
  readonly methods: Set<string>;
  /** Made for the first request that no route takes: a start does without, which many hundred of them delay. */
  pattern?: RegExp;
}

/** Before any route is registered. */
export function refuseOtherMethods(app: FastifyInstance, render: RenderErrorPage): void {
  const addresses = new Map<string, RouteAddress>();
  app.addHook("onRoute", ({ method, path }) => {
    const known = addresses.get(path) ?? { path, methods: new Set() };
    for (const one of [method].flat()) known.methods.add(one);
    addresses.set(path, known);
  });
  // As a hook: a body that no parser takes must not be the answer.
  app.addHook("onRequest", async (request, reply) => {
    if (!request.is404) return;
    const methods = allowedMethods(addresses.values(), request.url);
    // The route itself has sent this request here.
    if (methods.length === 0 || methods.includes(request.method)) return;
    await refuse(request, reply.header("allow", methods.join(", ")), render);
    return reply;
  });
}

const problem = { status: 405, code: "method-not-allowed", title: "Method not allowed" };

async function refuse(request: FastifyRequest, reply: FastifyReply, render: RenderErrorPage): Promise<void> {
  if (acceptsPage(request)) await render(request, reply, { status: problem.status });
  else await sendProblem(reply, problem, request.id);
}

/**
 * For a page at the address of an operation with other methods: a program would take the sign-in for its answer.
 * @param methods of the operation. @returns whether the request was refused
 */
export async function refusePageToProgram(
  request: FastifyRequest,
  reply: FastifyReply,
  methods: string,
): Promise<boolean> {
  reply.header("vary", "Accept, Authorization");
  if (!readsNoPage(request)) return false;
  await sendProblem(reply.header("allow", methods), problem, request.id);
  return true;
}

function allowedMethods(addresses: Iterable<RouteAddress>, url: string): string[] {
  const path = url.split("?", 1)[0] ?? "";
  const matching = [...addresses].filter((address) => {
    address.pattern ??= addressPattern(address.path);
    return address.pattern.test(path);
  });
  return [...new Set(matching.flatMap(({ methods }) => [...methods]))].sort();
}

/** As the router reads them: a parameter is one segment, an optional one may be absent, `*` is the rest. */
function addressPattern(path: string): RegExp {
  const segments = path.split("/").slice(1).map(segmentPattern);
  return new RegExp(`^${segments.join("")}$`);
}

function segmentPattern(segment: string): string {
  if (segment === "*") return "/.*";
  if (segment.startsWith(":")) return segment.endsWith("?") ? "(?:/[^/]*)?" : "/[^/]+";
  return `/${segment.replaceAll(/[.+^${}()|[\]\\]/g, "\\$&")}`;
}
