/** Bulk operations (RFC 7644 §3.7): in any order, each whole or not at all. */
import { fault, isObject, ScimFault } from "@signet/protocol/scim/attribute";
import type { ErrorHandlerDeps } from "../../http/error-handlers.ts";
import { errorBody, faultOf } from "./answers.ts";
import { MAX_BULK_OPERATIONS } from "./bulk-limits.ts";
import type { ScimCaller, ScimResources, Shown } from "./scim-call.ts";

const RESPONSE_SCHEMA = "urn:ietf:params:scim:api:messages:2.0:BulkResponse";
const methods = ["POST", "PUT", "PATCH", "DELETE"] as const;

interface Operation {
  readonly method: (typeof methods)[number];
  readonly path: string;
  readonly bulkId: string | undefined;
  readonly version: string | undefined;
  readonly data: unknown;
}

export interface BulkDeps {
  readonly errors: ErrorHandlerDeps;
  readonly resources: readonly ScimResources[];
}

interface Result {
  readonly method: string;
  readonly bulkId?: string;
  readonly location?: string;
  readonly version?: string;
  readonly status: string;
  readonly response?: object;
}

/** @throws ScimFault for a body that is no bulk request; the faults of operations are in the answer */
export async function runBulk(deps: BulkDeps, caller: ScimCaller, body: unknown, requestId: string) {
  const { operations, failOnErrors } = readBulk(body);
  const results = new Map<number, Result>();
  const ids = new Map<string, string>();
  let errors = 0;
  for (const together of inTurns(operations, failOnErrors === Number.POSITIVE_INFINITY ? TOGETHER : 1)) {
    if (errors >= failOnErrors) break;
    await Promise.all(
      together.map(async ({ at, operation }) => {
        const result = await runOne(deps, caller, { operation, ids, requestId });
        results.set(at, result);
        if (Number(result.status) >= 400) errors += 1;
      }),
    );
  }
  const inRequestOrder = [...results].sort(([one], [other]) => one - other).map(([, result]) => result);
  return { schemas: [RESPONSE_SCHEMA], Operations: inRequestOrder };
}

/** Fewer than a pool has connections. */
const TOGETHER = 8;

interface Turn {
  readonly at: number;
  readonly operation: Operation;
}

/** One after the other, but new users that follow each other and name nobody: they share a write to the disk. */
function inTurns(operations: readonly Operation[], most: number): Turn[][] {
  const turns: Turn[][] = [];
  for (const at of inOrder(operations)) {
    const operation = operations[at];
    if (!operation) continue;
    const last = turns.at(-1);
    const joins = last && last.length < most && [...last.slice(0, 1), { operation }].every(makesUser);
    if (joins) last.push({ at, operation });
    else turns.push([{ at, operation }]);
  }
  return turns;
}

const makesUser = ({ operation }: Pick<Turn, "operation">): boolean =>
  operation.method === "POST" && operation.path === "/Users" && referencesOf(operation).length === 0;

function readBulk(body: unknown): { operations: Operation[]; failOnErrors: number } {
  const { Operations: all, failOnErrors } = isObject(body) ? body : {};
  if (!Array.isArray(all) || all.length === 0)
    throw fault("invalidSyntax", "Operations is a list with at least one operation.");
  if (all.length > MAX_BULK_OPERATIONS)
    throw new ScimFault(413, "tooMany", `At most ${MAX_BULK_OPERATIONS} operations are taken at once.`);
  const limit =
    typeof failOnErrors === "number" && failOnErrors > 0 ? failOnErrors : Number.POSITIVE_INFINITY;
  const operations = all.map(readOperation);
  const bulkIds = operations.flatMap(({ bulkId }) => bulkId ?? []);
  if (new Set(bulkIds).size < bulkIds.length) throw fault("invalidSyntax", "Each bulkId is used once.");
  return { operations, failOnErrors: limit };
}

function readOperation(one: unknown): Operation {
  if (!isObject(one)) throw fault("invalidSyntax", "An operation is an object.");
  const { method, path, bulkId, version, data } = one;
  const known = methods.find((name) => typeof method === "string" && method.toUpperCase() === name);
  if (!known) throw fault("invalidSyntax", `method is one of ${methods.join(", ")}.`);
  if (typeof path !== "string" || path.length > 500) throw fault("invalidSyntax", "path is a string.");
  if (bulkId !== undefined && (typeof bulkId !== "string" || bulkId === "" || bulkId.length > 200))
    throw fault("invalidSyntax", "bulkId has 1 to 200 characters.");
  if (known === "POST" && bulkId === undefined) throw fault("invalidSyntax", "A POST needs a bulkId.");
  return { method: known, path, bulkId, version: typeof version === "string" ? version : undefined, data };
}

const REFERENCE = /bulkId:/;
/** The bulkIds that a value names, as `bulkId:…` in a string of its own or in a path. */
function referencesIn(value: unknown): string[] {
  if (typeof value === "string") return value.startsWith("bulkId:") ? [value.slice("bulkId:".length)] : [];
  if (Array.isArray(value)) return value.flatMap(referencesIn);
  return isObject(value) ? Object.values(value).flatMap(referencesIn) : [];
}

const referencesOf = ({ path, data }: Operation): string[] => [
  ...path
    .split("/")
    .filter((part) => REFERENCE.test(part))
    .flatMap(referencesIn),
  ...referencesIn(data),
];

/** What makes a resource runs before what names it; of a circle, in the order of the request. @returns positions */
function inOrder(operations: readonly Operation[]): number[] {
  const makers = new Map(
    operations.flatMap(({ bulkId }, at) => (bulkId === undefined ? [] : [[bulkId, at] as const])),
  );
  const order = new Set<number>();
  const visit = (first: number): void => {
    // Without recursion: a chain may be a thousand long.
    const stack = [{ at: first, isDone: false }];
    const open = new Set<number>();
    for (let top = stack.pop(); top !== undefined; top = stack.pop()) {
      if (top.isDone) order.add(top.at);
      if (top.isDone || order.has(top.at) || open.has(top.at)) continue;
      open.add(top.at);
      stack.push({ at: top.at, isDone: true });
      const operation = operations[top.at];
      for (const reference of operation ? referencesOf(operation) : []) {
        const maker = makers.get(reference);
        if (maker !== undefined && maker !== top.at) stack.push({ at: maker, isDone: false });
      }
    }
  };
  for (const at of operations.keys()) visit(at);
  return [...order];
}

/** @throws ScimFault when one was not made */
function resolve(value: unknown, ids: ReadonlyMap<string, string>): unknown {
  if (typeof value === "string") {
    if (!value.startsWith("bulkId:")) return value;
    const id = ids.get(value.slice("bulkId:".length));
    if (id === undefined) throw fault("invalidValue", `${value.slice(0, 100)} was not made.`);
    return id;
  }
  if (Array.isArray(value)) return value.map((one) => resolve(one, ids));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, resolve(inner, ids)]));
}

interface Run {
  readonly operation: Operation;
  readonly ids: Map<string, string>;
  readonly requestId: string;
}

async function runOne(
  deps: BulkDeps,
  caller: ScimCaller,
  { operation, ids, requestId }: Run,
): Promise<Result> {
  const { method, bulkId } = operation;
  const named = { method, ...(bulkId !== undefined && { bulkId }) };
  let location: string | undefined;
  try {
    const { resources, id } = targetOf(deps, operation, ids);
    if (id !== undefined) location = `${caller.root}${resources.type.endpoint}/${id}`;
    const shown = await perform(resources, caller, operation, { id, ids });
    if (shown && bulkId !== undefined) ids.set(bulkId, shown.id);
    const status = { POST: "201", PUT: "200", PATCH: "200", DELETE: "204" }[method];
    const at = shown?.meta.location ?? location;
    return {
      ...named,
      ...(at !== undefined && { location: at }),
      ...(shown && { version: shown.meta.version }),
      status,
    };
  } catch (error) {
    const { fault: told } = faultOf(deps.errors, error, requestId);
    const body = { status: String(told.status), response: errorBody(told) };
    return { ...named, ...(location !== undefined && { location }), ...body };
  }
}

function targetOf({ resources }: BulkDeps, { method, path }: Operation, ids: ReadonlyMap<string, string>) {
  const [, endpoint = "", id, ...more] = path.split("/");
  const found = resources.find(({ type }) => type.endpoint === `/${endpoint}`);
  const hasId = id !== undefined && id !== "";
  if (!found || more.length > 0 || hasId === (method === "POST"))
    throw fault("invalidPath", `${method} is not for this path.`);
  return { resources: found, id: hasId ? String(resolve(id, ids)) : undefined };
}

async function perform(
  resources: ScimResources,
  caller: ScimCaller,
  { method, version, data }: Operation,
  { id = "", ids }: { id: string | undefined; ids: ReadonlyMap<string, string> },
): Promise<Shown | undefined> {
  // Of the resource, a bulk tells its address and version alone.
  const wants = () => false;
  const condition = { ifMatch: version, wants };
  const body = resolve(data, ids);
  switch (method) {
    case "POST":
      return resources.create(caller, body, wants);
    case "PUT":
      return resources.replace(caller, id, body, condition);
    case "PATCH":
      return resources.patch(caller, id, body, condition);
    default:
      await resources.remove(caller, id, condition);
      return undefined;
  }
}
