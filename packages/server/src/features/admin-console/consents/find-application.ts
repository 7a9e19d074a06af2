/** An application by what somebody typed: its id, or its name or a part of it. */
import type { ConsoleDeps } from "../../../page-kit/visit.ts";
import { applicationsLike } from "./consents.store.ts";

type Named = { readonly id: string; readonly name: string };

export type FoundApplication =
  | { readonly kind: "one"; readonly application: Named }
  | { readonly kind: "several"; readonly applications: readonly Named[] }
  | { readonly kind: "none" };

/** More than these are not named: who typed less than that says so much types more. */
export const MOST_CHOICES = 20;

export async function findApplicationBy(
  { database }: Pick<ConsoleDeps, "database">,
  orgId: string,
  text: string,
): Promise<FoundApplication> {
  const applications = await applicationsLike(database.query, orgId, text, MOST_CHOICES);
  const whole = applications.filter(({ name }) => name.toLowerCase() === text.toLowerCase());
  const [only] = whole.length === 1 ? whole : applications;
  if (!only) return { kind: "none" };
  return whole.length === 1 || applications.length === 1
    ? { kind: "one", application: only }
    : { kind: "several", applications };
}
