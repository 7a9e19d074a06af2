/** Whether whoever has made a portal link could still make one: a link gives nothing that its maker has lost (api-v1.md, "Access"). */
import type { Db } from "../../db/open.ts";
import { findApplication } from "../applications/applications.store.ts";
import { findOperatorsOrganisation } from "../operators/operators.store.ts";
import { findUser } from "../users/users.store.ts";
import type { PortalLink } from "./portal-link.ts";

/** A client or administrator of the organisation, or of the operators'; whoever holds the database needs neither. */
export async function isMakerUsable(
  db: Db,
  { orgId, createdBy }: Pick<PortalLink, "orgId" | "createdBy">,
): Promise<boolean> {
  const [kind = "", id = ""] = createdBy.split(":");
  if (kind !== "client" && kind !== "user") return true;
  for (const home of [orgId, await findOperatorsOrganisation(db)])
    if (home !== undefined && (await (kind === "client" ? isEnabled : isAdministrator)(db, home, id)))
      return true;
  return false;
}

async function isEnabled(db: Db, orgId: string, id: string): Promise<boolean> {
  const application = await findApplication(db, orgId, id);
  return application?.disabledAt === null;
}

async function isAdministrator(db: Db, orgId: string, id: string): Promise<boolean> {
  const user = await findUser(db, orgId, id);
  return user?.role === "Administrator" && user.disabledAt === null;
}
