/** Whose roles an access token tells: those of the application that it is for. */
import type { Application } from "../applications/application.ts";
import type { EntitlementDirectory } from "./entitlements.ts";

/**
 * The application whose audience the token names, else its client.
 * @param audience the token's `aud`, or the resources and the audience that it will have
 * @returns undefined when it names the audiences of several
 */
export async function applicationOfToken(
  { entitlements }: { readonly entitlements: Pick<EntitlementDirectory, "applicationsFor"> },
  client: Application,
  audience: readonly string[],
): Promise<Application | undefined> {
  const { orgId } = client;
  const named = new Map<string, Application>();
  for (const one of audience)
    for (const found of await entitlements.applicationsFor(orgId, one)) named.set(found.id, found);
  if (named.size > 1) return undefined;
  const [found = client] = named.values();
  return found;
}
