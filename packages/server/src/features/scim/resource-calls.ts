/** What is the same for every type of resource: conditions, projections, headers. */
import { ScimFault } from "@signet/protocol/scim/attribute";
import { namesTag } from "./etag.ts";
import { type Projection, project, readProjection, wants } from "./projection.ts";
import type { ScimAnswer, ScimCaller, ScimResources, Shown, Wants } from "./scim-call.ts";

export interface Conditions {
  readonly ifMatch: string | undefined;
  readonly ifNoneMatch: string | undefined;
  readonly attributes: string | undefined;
  readonly excludedAttributes: string | undefined;
}

/** What is answered of a resource, and so what has to be read of it. @throws ScimFault */
function answered({ type }: ScimResources, { attributes, excludedAttributes }: Conditions) {
  const projection = readProjection(attributes, excludedAttributes);
  const wanted: Wants = (name) => wants(type, projection, name);
  return { projection, wanted };
}

/** @throws ScimFault 404 */
export async function readOne(
  resources: ScimResources,
  caller: ScimCaller,
  id: string,
  conditions: Conditions,
): Promise<ScimAnswer> {
  const { projection, wanted } = answered(resources, conditions);
  const shown = await resources.find(caller, id, wanted);
  if (!shown) throw new ScimFault(404, undefined, `There is no such ${resources.type.name.toLowerCase()}.`);
  const { version } = shown.meta;
  if (conditions.ifNoneMatch !== undefined && namesTag(conditions.ifNoneMatch, version))
    return { status: 304, headers: { etag: version } };
  return answer(200, resources, shown, projection);
}

export async function createOne(
  resources: ScimResources,
  caller: ScimCaller,
  body: unknown,
  conditions: Conditions,
): Promise<ScimAnswer> {
  const { projection, wanted } = answered(resources, conditions);
  return answer(201, resources, await resources.create(caller, body, wanted), projection);
}

export async function writeOne(
  resources: ScimResources,
  caller: ScimCaller,
  { id, how, body }: { readonly id: string; readonly how: "replace" | "patch"; readonly body: unknown },
  conditions: Conditions,
): Promise<ScimAnswer> {
  const { projection, wanted } = answered(resources, conditions);
  const condition = { ifMatch: conditions.ifMatch, wants: wanted };
  return answer(200, resources, await resources[how](caller, id, body, condition), projection);
}

export async function removeOne(
  resources: ScimResources,
  caller: ScimCaller,
  id: string,
  conditions: Conditions,
): Promise<ScimAnswer> {
  await resources.remove(caller, id, { ifMatch: conditions.ifMatch, wants: () => false });
  return { status: 204 };
}

function answer(status: number, { type }: ScimResources, shown: Shown, projection: Projection): ScimAnswer {
  const { location, version } = shown.meta;
  return { status, headers: { location, etag: version }, body: project(type, shown, projection) };
}
