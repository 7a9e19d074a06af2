/** Lists, by query and by `.search` (RFC 7644 §3.4.2 and §3.4.3), of one type or of all. */
import { fault, ScimFault } from "@signet/protocol/scim/attribute";
import { LIST_SCHEMA } from "./discovery.ts";
import { type ListParameters, type ListRequest, makeCursor, readListRequest } from "./list-request.ts";
import { type Projection, project, readProjection, wants } from "./projection.ts";
import type { Page, ScimAnswer, ScimCaller, ScimResources } from "./scim-call.ts";

export interface ListCall extends ListParameters {
  readonly attributes?: unknown;
  readonly excludedAttributes?: unknown;
}

interface Listed {
  readonly caller: ScimCaller;
  readonly resources: readonly ScimResources[];
}

/** @throws ScimFault */
export async function answerList({ caller, resources }: Listed, call: ListCall): Promise<ScimAnswer> {
  const projection = readProjection(call.attributes, call.excludedAttributes);
  const [first, ...others] = resources;
  if (!first) throw fault("invalidSyntax", "There is nothing to search.");
  if (others.length === 0) {
    const request = readListRequest(first.type, call);
    const page = await first.list(caller, request, (name) => wants(first.type, projection, name));
    return { status: 200, body: listBody(request, page, shownOf(first, page, projection)) };
  }
  if (call.cursor !== undefined) throw fault("invalidCursor", "A search of all types has pages by index.");
  const { filter: _, ...numbers } = call;
  const request = readListRequest(first.type, numbers);
  return { status: 200, body: await searchAll(caller, resources, { call, request, projection }) };
}

/** One type after the other; the index counts through all of them. */
async function searchAll(
  caller: ScimCaller,
  all: readonly ScimResources[],
  { call, request, projection }: { call: ListCall; request: ListRequest; projection: Projection },
): Promise<object> {
  let total = 0;
  const shown: object[] = [];
  const refusals: ScimFault[] = [];
  for (const resources of all) {
    const offset = Math.max(0, request.offset - total);
    const count = request.count - shown.length;
    const wanted = (name: string) => wants(resources.type, projection, name);
    const page = await unlessUnknown(async () => {
      const own = { ...readListRequest(resources.type, call), offset, count };
      return resources.list(caller, own, wanted);
    }, refusals);
    total += page.total;
    shown.push(...shownOf(resources, page, projection));
  }
  const [refusal] = refusals;
  if (refusal && refusals.length === all.length) throw refusal;
  return listBody(request, { ...nothing, total }, shown);
}

async function unlessUnknown(list: () => Promise<Page>, refusals: ScimFault[]): Promise<Page> {
  try {
    return await list();
  } catch (error) {
    if (!(error instanceof ScimFault) || error.scimType !== "invalidFilter") throw error;
    refusals.push(error);
    return nothing;
  }
}

/** What a type has no attribute for is none of its resources (RFC 7644 §3.4.2.1). */
const nothing: Page = { resources: [], total: 0, hasMore: false };

const shownOf = ({ type }: ScimResources, { resources }: Page, projection: Projection): object[] =>
  resources.map((one) => project(type, one, projection));

function listBody(
  { cursor, offset, binding, count }: ListRequest,
  page: Page,
  shown: readonly object[],
): object {
  const counted = { schemas: [LIST_SCHEMA], totalResults: page.total, itemsPerPage: shown.length };
  const last = page.resources.at(-1);
  const next =
    cursor && page.hasMore && last && count > 0 ? { nextCursor: makeCursor(binding, last.id) } : {};
  return { ...counted, ...(cursor ? next : { startIndex: offset + 1 }), Resources: shown };
}
