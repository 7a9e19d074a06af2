/** Device administration answers pages and programs at the same addresses: tells them apart, and what both need. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Organisation } from "../../../core/organisations/organisation.ts";
import type { Administrator } from "../../../core/system-accounts/system-account.ts";
import type { Database } from "../../../db/open.ts";
import { tabs } from "../../../html/components/tabs.ts";
import type { Html } from "../../../html/html.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import type { ApiAuthenticator, Operation } from "../../../http/api/api-route.ts";
import { CodedError } from "../../../http/coded-error.ts";
import type { ErrorHandler } from "../../../http/error-handlers.ts";
import { sanitizeQuery } from "../../../http/form-body.ts";
import { isProgram } from "../../../http/program.ts";
import { type ConsoleDeps, pageHandler, type Visit } from "../../../page-kit/page.ts";

/** What all operations of this API have in common. */
export const deviceAdministration = {
  tag: "Device identity",
  credential: "administrator",
  errorForm: "oauth",
} as const;

export const ALSO_BY_PAGES = "Our pages may send the same JSON with `X-CSRF-Token`.";

export interface ManageDeps extends ConsoleDeps {
  readonly programs: {
    readonly authenticator: ApiAuthenticator<Administrator, Database>;
    readonly showError: ErrorHandler;
  };
  describe(operation: Operation): void;
}

export const managePath = ({ id }: Pick<Organisation, "id">, rest = ""): string =>
  `/devices/manage/${id}${rest}`;

/** Addresses of the device pages, as their views take them. @param rest begins with a slash, a question mark or nothing */
export type ManageUri = (rest?: string) => string;

export function manageTabs(
  current: "list" | "codes" | "policy",
  { manageUri, messages }: { manageUri: ManageUri; messages: Messages },
): Html {
  const { nav: text } = messages.devices;
  const link = (page: typeof current, uri: string) => ({
    id: `tab-${page}`,
    label: text[page],
    uri,
    isCurrent: page === current,
  });
  return tabs({
    label: text.label,
    links: [
      link("list", manageUri()),
      link("codes", manageUri("/codes")),
      link("policy", manageUri("/policy")),
    ],
  });
}

/** The administrator of an API call, for the audit log. */
export const actingFor = ({ organisation, actor, address }: Administrator) => ({
  orgId: organisation.id,
  actor,
  address,
});

/** Uses the transaction that stores the response of an idempotent call, when there is one. */
export const inTransaction = (deps: ManageDeps, within: Database | undefined): ManageDeps =>
  within ? { ...deps, database: within } : deps;

type Handler = (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>;

/** Registers one address for browsers (pages and forms) and programs (JSON). */
export function pageAndApiRoute(
  app: FastifyInstance,
  deps: ManageDeps,
  operation: Operation,
  handlers: { program: Handler; page(deps: ManageDeps, visit: Visit): Promise<void> },
): void {
  deps.describe(operation);
  const page = managePageHandler(deps, handlers.page);
  app.route({
    method: operation.method,
    url: operation.path,
    config: { sanitizesForms: true },
    errorHandler: (error, request, reply) =>
      (isProgramCall(request) ? deps.programs : deps).showError(error, request, reply),
    handler: (request, reply) => {
      reply.header("vary", "Accept, Authorization");
      if (!isProgramCall(request)) return page(request, reply);
      if (isForm(request)) throw new CodedError(415, "invalid_request", "a JSON body is required");
      return handlers.program(request, reply);
    },
  });
}

/** For browsers only. */
export function managePageHandler(
  deps: ManageDeps,
  handle: (deps: ManageDeps, visit: Visit) => Promise<void>,
): Handler {
  return pageHandler(deps, (_, visit) => {
    sanitizeQuery(visit.request);
    return handle(deps, visit);
  });
}

const isForm = ({ headers }: FastifyRequest): boolean =>
  /^application\/x-www-form-urlencoded\b/i.test(headers["content-type"] ?? "");

/** Programs sign their requests, or send or accept JSON; our pages send forms. */
const isProgramCall = (request: FastifyRequest): boolean =>
  request.method === "GET" || request.headers.authorization !== undefined
    ? isProgram(request)
    : !isForm(request);
