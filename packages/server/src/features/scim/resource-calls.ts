/** What is the same for every type of resource: conditions, projections, headers. */
import { ScimFault } from "@signet/protocol/scim/attribute";
import { namesTag } from "./etag.ts";
import { project, readProjection } from "./projection.ts";
import type { ScimAnswer, ScimCaller, ScimResources, Shown } from "./scim-call.ts";

export interface Conditions {
  readonly ifMatch: string | undefined;
  readonly ifNoneMatch: string | undefined;
  readonly attributes: string | undefined;
  readonly excludedAttributes: string | undefined;
}

/** @throws ScimFault 404 */
export async function readOne(
  resources: ScimResources,
  caller: ScimCaller,
  id: string,
  conditions: Conditions,
): Promise<ScimAnswer> {
  const shown = await resources.find(caller, id);
  if (!shown) throw new ScimFault(404, undefined, `There is no such ${resources.type.name.toLowerCase()}.`);
  const { version } = shown.meta;
  if (conditions.ifNoneMatch !== undefined && namesTag(conditions.ifNoneMatch, version))
    return { status: 304, headers: { etag: version } };
  return answer(200, resources, shown, conditions);
}

export async function createOne(
  resources: ScimResources,
  caller: ScimCaller,
  body: unknown,
  conditions: Conditions,
): Promise<ScimAnswer> {
  return answer(201, resources, await resources.create(caller, body), conditions);
}

export async function writeOne(
  resources: ScimResources,
  caller: ScimCaller,
  { id, how, body }: { readonly id: string; readonly how: "replace" | "patch"; readonly body: unknown },
  conditions: Conditions,
): Promise<ScimAnswer> {
  return answer(200, resources, await resources[how](caller, id, body, conditions), conditions);
}

export async function removeOne(
  resources: ScimResources,
  caller: ScimCaller,
  id: string,
  conditions: Conditions,
): Promise<ScimAnswer> {
  await resources.remove(caller, id, conditions);
  return { status: 204 };
}

function answer(status: number, { type }: ScimResources, shown: Shown, conditions: Conditions): ScimAnswer {
  const { attributes, excludedAttributes } = conditions;
  const { location, version } = shown.meta;
  return {
    status,
    headers: { location, etag: version },
    body: project(type, shown, readProjection(attributes, excludedAttributes)),
  };
}
