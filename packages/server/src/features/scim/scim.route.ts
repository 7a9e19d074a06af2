/** SCIM 2.0 (RFC 7644): `{base_url}/scim/v2/{org}/{connection}`. Nothing is looked at before the token. */
import { isObject, ScimFault } from "@signet/protocol/scim/attribute";
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteHandlerMethod } from "fastify";
import { recordCall } from "../../core/connections/connection-calls.store.ts";
import { isReferenceViolation } from "../../db/database-errors.ts";
import { parseJson, rawBody } from "../../http/api/json-body.ts";
import { parseQuery } from "../../http/form-body.ts";
import { errorBody, faultOf, sendScim } from "./answers.ts";
import { authenticate, type ScimAuthenticationDeps } from "./authentication.ts";
import { runBulk } from "./bulk.ts";
import { MAX_BULK_BYTES } from "./bulk-limits.ts";
import { listOf, oneOf, resourceTypes, schemas, serviceProviderConfig } from "./discovery.ts";
import { answerList } from "./list-answer.ts";
import { createOne, readOne, removeOne, writeOne } from "./resource-calls.ts";
import type { ScimAnswer, ScimCaller, ScimResources } from "./scim-call.ts";

export interface ScimRouteDeps extends ScimAuthenticationDeps {
  readonly users: ScimResources;
  readonly groups: ScimResources;
}

type Handle = (caller: ScimCaller, request: FastifyRequest) => Promise<ScimAnswer>;

type On = (handle: Handle) => RouteHandlerMethod;

export function scimRoutes(app: FastifyInstance, deps: ScimRouteDeps): void {
  const callers = new WeakMap<FastifyRequest, ScimCaller>();
  // Before a body is read: four megabytes of anybody's are not taken.
  app.addHook("onRequest", async (request) => {
    callers.set(request, await authenticate(deps, request));
  });
  const on: On = (handle) => async (request, reply) => {
    const caller = callers.get(request);
    if (!caller) throw new Error("the call was not authenticated");
    return send(reply, await logged(deps, caller, request, handle));
  };
  const resources = [deps.users, deps.groups];
  discoveryRoutes(app, resources, on);
  userRoutes(app, deps.users, on);
  groupRoutes(app, deps.groups, on);
  app.post("/scim/v2/:org/:connection/.search", on(search(resources)));
  app.post(
    "/scim/v2/:org/:connection/Bulk",
    { bodyLimit: MAX_BULK_BYTES },
    on(async (caller, request) => ({
      status: 200,
      body: await runBulk({ ...deps, resources }, caller, bodyOf(request), request.id),
    })),
  );
  app.route({
    method: ["GET", "POST", "PUT", "PATCH", "DELETE"],
    url: "/scim/v2/:org/:connection/*",
    handler: on(notHere),
  });
}

function discoveryRoutes(app: FastifyInstance, resources: readonly ScimResources[], on: On): void {
  const types = resources.map(({ type }) => type);
  app.get(
    "/scim/v2/:org/:connection/ServiceProviderConfig",
    on(async ({ root }) => document(serviceProviderConfig(root))),
  );
  app.get(
    "/scim/v2/:org/:connection/ResourceTypes",
    on(async ({ root }) => document(listOf(resourceTypes(root, types)))),
  );
  app.get(
    "/scim/v2/:org/:connection/ResourceTypes/:id",
    on(async ({ root }, request) => document(oneOf(resourceTypes(root, types), idIn(request)))),
  );
  app.get(
    "/scim/v2/:org/:connection/Schemas",
    on(async ({ root }) => document(listOf(schemas(root, types)))),
  );
  app.get(
    "/scim/v2/:org/:connection/Schemas/:id",
    on(async ({ root }, request) => document(oneOf(schemas(root, types), idIn(request)))),
  );
}

function userRoutes(app: FastifyInstance, users: ScimResources, on: On): void {
  app.get("/scim/v2/:org/:connection/Users", on(list([users])));
  app.post("/scim/v2/:org/:connection/Users", on(create(users)));
  app.post("/scim/v2/:org/:connection/Users/.search", on(search([users])));
  app.get("/scim/v2/:org/:connection/Users/:id", on(read(users)));
  app.put("/scim/v2/:org/:connection/Users/:id", on(write(users, "replace")));
  app.patch("/scim/v2/:org/:connection/Users/:id", on(write(users, "patch")));
  app.delete("/scim/v2/:org/:connection/Users/:id", on(remove(users)));
}

function groupRoutes(app: FastifyInstance, groups: ScimResources, on: On): void {
  app.get("/scim/v2/:org/:connection/Groups", on(list([groups])));
  // A directory sends all members of a group at once.
  const large = { bodyLimit: MAX_BULK_BYTES };
  app.post("/scim/v2/:org/:connection/Groups", large, on(create(groups)));
  app.post("/scim/v2/:org/:connection/Groups/.search", on(search([groups])));
  app.get("/scim/v2/:org/:connection/Groups/:id", on(read(groups)));
  app.put("/scim/v2/:org/:connection/Groups/:id", large, on(write(groups, "replace")));
  app.patch("/scim/v2/:org/:connection/Groups/:id", large, on(write(groups, "patch")));
  app.delete("/scim/v2/:org/:connection/Groups/:id", on(remove(groups)));
}

/** `Me` is a person's own record, and no person calls here (RFC 7644 §3.11). */
const notHere: Handle = async (_caller, request) => {
  const { "*": rest = "" } = request.params as { "*"?: string };
  if (/^Me(?:\/|$)/i.test(rest))
    throw new ScimFault(501, undefined, "There is no Me: a connection is no user.");
  const allow = methodsOf(rest);
  if (allow === undefined) throw new ScimFault(404, undefined, "There is no such resource.");
  const fault = new ScimFault(405, undefined, `${request.method} is not for this resource.`);
  return { status: 405, headers: { allow }, body: errorBody(fault) };
};

/** Of what there is, by the path below the root. */
function methodsOf(path: string): string | undefined {
  if (/^(?:ServiceProviderConfig|(?:ResourceTypes|Schemas)(?:\/[^/]+)?)$/.test(path)) return "GET";
  if (/^(?:(?:Users|Groups)\/)?\.search$|^Bulk$/.test(path)) return "POST";
  if (/^(?:Users|Groups)$/.test(path)) return "GET, POST";
  return /^(?:Users|Groups)\/[^/]+$/.test(path) ? "GET, PUT, PATCH, DELETE" : undefined;
}

const idIn = (request: FastifyRequest): string => (request.params as { id: string }).id;
const document = (body: object): ScimAnswer => ({ status: 200, body });
const bodyOf = (request: FastifyRequest): unknown => parseJson(rawBody(request));

const read =
  (resources: ScimResources): Handle =>
  (caller, request) =>
    readOne(resources, caller, idIn(request), conditionsOf(request));

const create =
  (resources: ScimResources): Handle =>
  (caller, request) =>
    createOne(resources, caller, bodyOf(request), conditionsOf(request));

const write =
  (resources: ScimResources, how: "replace" | "patch"): Handle =>
  (caller, request) =>
    writeOne(resources, caller, { id: idIn(request), how, body: bodyOf(request) }, conditionsOf(request));

const remove =
  (resources: ScimResources): Handle =>
  (caller, request) =>
    removeOne(resources, caller, idIn(request), conditionsOf(request));

function conditionsOf(request: FastifyRequest) {
  const { values } = parseQuery(request);
  return {
    ifMatch: request.headers["if-match"],
    ifNoneMatch: request.headers["if-none-match"],
    attributes: values.get("attributes"),
    excludedAttributes: values.get("excludedAttributes"),
  };
}

const list =
  (resources: readonly ScimResources[]): Handle =>
  (caller, request) =>
    answerList(
      { caller, resources },
      { ...firstPage(request), ...Object.fromEntries(parseQuery(request).values) },
    );

/** `?cursor` or `?cursor=` asks for the first page (RFC 9865 §2.1); of a form, parameters without a value are left out. */
function firstPage({ query }: FastifyRequest): { cursor?: string } {
  const { raw = "" } = query as { raw?: string };
  return /(?:^|&)cursor(?:=?(?:&|$))/.test(raw) ? { cursor: "" } : {};
}

const search =
  (resources: readonly ScimResources[]): Handle =>
  async (caller, request) => {
    const body = bodyOf(request);
    if (!isObject(body)) throw new ScimFault(400, "invalidSyntax", "The body is a JSON object.");
    return answerList({ caller, resources }, body);
  };

/** Keeps what came of the call, whatever it was, for who looks for a fault in the connection. */
async function logged(
  deps: ScimRouteDeps,
  caller: ScimCaller,
  request: FastifyRequest,
  handle: Handle,
): Promise<ScimAnswer> {
  const { orgId, id: connectionId } = caller.connection;
  const keep = async (status: number, scimType: string | null): Promise<void> => {
    const path = request.url.split("?", 1)[0]?.slice(0, 300) ?? "";
    const below = path.replace(/^\/scim\/v2\/[^/]+\/[^/]+/i, "");
    const call = {
      orgId,
      connectionId,
      at: deps.clock(),
      method: request.method,
      path: below,
      status,
      scimType,
    };
    // What was done is done: its answer is not a fault because the connection was deleted meanwhile, or the database went away.
    await recordCall(deps.database.query, call).catch((error: unknown) => {
      // The log went with the connection.
      if (!isReferenceViolation(error)) deps.errors.log(error, request.id, status);
    });
  };
  try {
    const answer = await handle(caller, request);
    await keep(answer.status, null);
    return answer;
  } catch (error) {
    const quiet = { ...deps.errors, log: () => {} };
    const { fault } = faultOf(quiet, error, request.id);
    // Where the database is away there is nowhere to keep it.
    if (fault.status !== 503) await keep(fault.status, fault.scimType ?? null);
    throw error;
  }
}

function send(reply: FastifyReply, { status, headers = {}, body }: ScimAnswer): FastifyReply {
  reply.headers(headers);
  return body === undefined ? reply.code(status).send() : sendScim(reply, status, body);
}
