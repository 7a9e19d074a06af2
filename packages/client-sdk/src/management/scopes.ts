/** Custom scopes of the organisation, and their claims. */
import type { TypedClient } from "../service-api/typed-client.ts";
import type { ManagementCalls } from "./management-calls.ts";
import type { ChangedScope, NewScope, Scope } from "./management-records.ts";
import { type DeleteOptions, type VersionedRecords, versionedRecords } from "./versioned-records.ts";

/** Custom scopes of the organisation. */
export interface ManagedScopes extends VersionedRecords<Scope, Scope, NewScope, ChangedScope> {
  /** Deletes the scope permanently; existing tokens keep it. */
  delete(id: string, options?: DeleteOptions): Promise<void>;
}

export const managedScopes = (client: TypedClient<ManagementCalls>): ManagedScopes =>
  versionedRecords(client, "/legacy/api/oauth/scopes");
