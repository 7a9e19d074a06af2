/** The resource that a scope belongs to, chosen where the scope is edited; the rules are the resource's (core/protected-resources). */

import { listResources } from "../../../core/protected-resources/protected-resources.store.ts";
import {
  changeResource,
  findResourceWithScopes,
} from "../../../core/protected-resources/protected-resources.ts";
import type { CustomScope } from "../../../core/scopes/custom-scope.ts";
import type { Choice } from "../../../html/components/fields.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import type { auditContext, ConsoleDeps } from "../../../page-kit/page.ts";

/** None, and each resource; nothing where the organisation has no resources. */
export async function resourceChoices(
  { database }: Pick<ConsoleDeps, "database">,
  orgId: string,
  { console: { scopes } }: Messages,
): Promise<Choice[]> {
  const resources = await listResources(database.query, orgId);
  if (resources.length === 0) return [];
  return [
    { value: "", label: scopes.noResource },
    ...resources.map(({ id, name }) => ({ value: id, label: name })),
  ];
}

/**
 * The organisation is locked.
 * @param resourceId empty: none
 * @returns false when there is no such resource
 */
export async function assignResource(
  inside: ConsoleDeps,
  acting: ReturnType<typeof auditContext>,
  { orgId, name, resourceId: before }: Pick<CustomScope, "orgId" | "name" | "resourceId">,
  resourceId: string,
): Promise<boolean> {
  const wanted = resourceId === "" ? null : resourceId;
  if (wanted === before) return true;
  if (before !== null)
    await changeScopes(inside, acting, { orgId, id: before }, (names) => names.filter((one) => one !== name));
  return (
    wanted === null ||
    (await changeScopes(inside, acting, { orgId, id: wanted }, (names) => [...names, name]))
  );
}

async function changeScopes(
  inside: ConsoleDeps,
  acting: ReturnType<typeof auditContext>,
  key: { readonly orgId: string; readonly id: string },
  change: (names: readonly string[]) => readonly string[],
): Promise<boolean> {
  const resource = await findResourceWithScopes(inside.database.query, key);
  if (!resource) return false;
  const scopes = change(resource.scopes.map(({ name }) => name));
  await changeResource(inside, { ...acting, id: key.id, change: { settings: {}, scopes } });
  return true;
}
