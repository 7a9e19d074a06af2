/** Finds an application by its id, its name or a part of its name. */
import type { ConsoleDeps } from "../../../page-kit/page.ts";
import { applicationsLike } from "./consents.store.ts";

type Named = { readonly id: string; readonly name: string };

export type FoundApplication =
  | { readonly kind: "one"; readonly application: Named }
  | { readonly kind: "several"; readonly applications: readonly Named[] }
  | { readonly kind: "none" };

/** With more matches, the search has to be narrowed. */
export const MAX_CHOICES = 20;

export async function findApplicationBy(
  { database }: Pick<ConsoleDeps, "database">,
  orgId: string,
  text: string,
): Promise<FoundApplication> {
  const applications = await applicationsLike(database.query, orgId, text, MAX_CHOICES);
  const exact = applications.filter(({ name }) => name.toLowerCase() === text.toLowerCase());
  const [only] = exact.length === 1 ? exact : applications;
  if (!only) return { kind: "none" };
  return exact.length === 1 || applications.length === 1
    ? { kind: "one", application: only }
    : { kind: "several", applications };
}
