/** Each operation of a directory is whole or not at all; what two do at the same time is a clash for one of them. */
import { fault, ScimFault } from "@signet/protocol/scim/attribute";
import { isUniqueViolation } from "../../db/database-errors.ts";
import { boundTo } from "../../db/open.ts";
import type { Connection } from "../connections/connection.ts";
import { GroupConflict, InvalidGroup } from "../groups/group.ts";
import type { NoticeDeps } from "../mail/notices.ts";
import type { RecordDeps } from "../record-changes.ts";
import { LastAdministrator } from "../users/leaving/last-administrator.ts";

export type ProvisionDeps = RecordDeps & NoticeDeps;

export interface Provisioning {
  readonly connection: Connection;
  /** The network address of the call. */
  readonly address: string;
}

export const actOf = ({ connection, address }: Provisioning) => ({
  ...{ orgId: connection.orgId, actor: `connection:${connection.id}`, address },
});

/** @param identifiers what is unique, for who made another of the same at the same time. @throws ScimFault */
export function inTransaction<T>(
  deps: ProvisionDeps,
  identifiers: string,
  work: (inside: ProvisionDeps) => Promise<T>,
): Promise<T> {
  return deps.database
    .transaction((tx) => work({ ...deps, database: boundTo(deps.database, tx) }))
    .catch((error: unknown) => {
      throw toFault(error, identifiers);
    });
}

function toFault(error: unknown, identifiers: string): unknown {
  if (error instanceof LastAdministrator)
    return new ScimFault(403, undefined, "The organisation would be left without an administrator.");
  if (error instanceof InvalidGroup) return fault("invalidValue", `The group is refused: ${error.message}.`);
  if (error instanceof GroupConflict)
    return error.code === "name-taken" || error.code === "changed-meanwhile"
      ? fault("uniqueness", `Another group has this ${identifiers}.`)
      : fault("invalidValue", `The members are refused: ${error.message}.`);
  return isUniqueViolation(error) ? fault("uniqueness", `Another one has this ${identifiers}.`) : error;
}
