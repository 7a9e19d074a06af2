/**
 * What the pages of device administration share with each other, besides what they share with the console. Programs, and
 * pages that speak JSON, come to the same addresses and have their own door.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Organisation } from "../../../core/organisations/organisation.ts";
import type { Administrator } from "../../../core/system-accounts/administrator.ts";
import type { Database } from "../../../db/open.ts";
import { tabs } from "../../../html/components/tabs.ts";
import type { Html } from "../../../html/html.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import type { ApiDoor, Operation } from "../../../http/api/api-route.ts";
import { CodedError } from "../../../http/coded-error.ts";
import type { ErrorHandler } from "../../../http/error-handlers.ts";
import { mendQuery } from "../../../http/form-body.ts";
import { type ConsoleDeps, pageHandler, type Visit } from "../../../page-kit/page.ts";

export interface ManageDeps extends ConsoleDeps {
  readonly programs: {
    readonly door: ApiDoor<Administrator, Database>;
    /** For acts whose body is the same for every record: their plain signature would be good for another one. */
    readonly strictDoor: ApiDoor<Administrator, Database>;
    /** How programs are told of errors. */
    readonly showError: ErrorHandler;
  };
  describe(operation: Operation): void;
}

/** Below it, everything of device administration. */
export const MANAGE = "/devices/manage/:org";

export const managePath = ({ id }: Pick<Organisation, "id">, rest = ""): string =>
  `/devices/manage/${id}${rest}`;

/** Between the list and the policy. */
export function manageTabs(
  organisation: Pick<Organisation, "id">,
  current: "list" | "policy",
  { devices: { nav: text } }: Messages,
): Html {
  const link = (page: typeof current, rest: string) => ({
    id: `tab-${page}`,
    label: text[page],
    uri: managePath(organisation, rest),
    isCurrent: page === current,
  });
  return tabs({ label: text.label, links: [link("list", ""), link("policy", "/policy")] });
}

/** The organisation and the acting administrator, for a program's call. */
export const actingFor = ({ organisation, actor, address }: Administrator) => ({
  orgId: organisation.id,
  actor,
  address,
});

/** In the transaction that keeps the answer, when there is one. */
export const inside = (deps: ManageDeps, within: Database | undefined): ManageDeps =>
  within ? { ...deps, database: within } : deps;

type Handler = (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>;

/** One address for both: a page or a form of ours, and JSON. */
export function forBoth(
  app: FastifyInstance,
  deps: ManageDeps,
  operation: Operation,
  handlers: { program: Handler; page(deps: ManageDeps, visit: Visit): Promise<void> },
): void {
  deps.describe(operation);
  const page = managePage(deps, handlers.page);
  app.route({
    method: operation.method,
    url: operation.path,
    config: { mendsForms: true },
    errorHandler: (error, request, reply) =>
      (isProgram(request) ? deps.programs : deps).showError(error, request, reply),
    handler: (request, reply) => {
      reply.header("vary", "Accept, Authorization");
      if (!isProgram(request)) return page(request, reply);
      if (isForm(request)) throw new CodedError(415, "invalid_request", "a body of JSON is expected");
      return handlers.program(request, reply);
    },
  });
}

/** For browsers alone. */
export function managePage(
  deps: ManageDeps,
  handle: (deps: ManageDeps, visit: Visit) => Promise<void>,
): Handler {
  return pageHandler(deps, (_, visit) => {
    mendQuery(visit.request);
    return handle(deps, visit);
  });
}

const isForm = ({ headers }: FastifyRequest): boolean =>
  /^application\/x-www-form-urlencoded\b/i.test(headers["content-type"] ?? "");

/** Who signs, or wants or sends JSON: the pages send forms, and browsers ask for pages. */
function isProgram(request: FastifyRequest): boolean {
  const { authorization, accept = "" } = request.headers;
  if (authorization !== undefined) return true;
  if (request.method !== "GET") return !isForm(request);
  return accept.includes("application/json") && !accept.includes("text/html");
}
