/** Whether an address may make an account: organisation and domain decide, never whether there is one (connections.md §6). */
import type { Db } from "../../db/open.ts";
import { domainOf } from "../domains/domain.ts";
import { findDomainByName } from "../domains/domains.store.ts";
import type { Organisation } from "../organisations/organisation.ts";

export type SignUpRight =
  | { readonly kind: "allowed" | "refused" }
  /** The domain is enforced: its people come by its connection. */
  | { readonly kind: "upstream"; readonly connectionId: string };

/** One statement, whatever the mode is. */
export async function maySignUp(
  db: Db,
  { id: orgId, settings }: Pick<Organisation, "id" | "settings">,
  email: string,
): Promise<SignUpRight> {
  const name = domainOf(email);
  const domain = name === undefined ? undefined : await findDomainByName(db, orgId, name);
  if (domain?.enforced && domain.connectionId !== null)
    return { kind: "upstream", connectionId: domain.connectionId };
  const { mode } = settings.signUp;
  // Trust in a domain ends when its record is gone.
  const isAllowed = mode !== "off" && (mode !== "domains" || domain?.state === "proven");
  return { kind: isAllowed ? "allowed" : "refused" };
}
