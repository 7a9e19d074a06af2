/**
 * The application by which administrators sign in to the command line (`signet login`): public, with the device grant alone. Its id
 * follows from the organisation's, so that a command line knows it; the organisation has it from the first sign-in on, and its
 * administrators see, limit and disable it like any other.
 */
import { createHash } from "node:crypto";
import type { Db } from "../../db/open.ts";
import { findOperatorsOrganisation } from "../operators/operators.store.ts";
import type { RecordDeps } from "../record-changes.ts";
import { apiScopes, operatorScopes } from "../scopes/api-scopes.ts";
import { deviceCodeGrantType } from "./application.ts";
import { findApplication } from "./applications.store.ts";
import { createApplication, type NewApplication } from "./applications.ts";

const NAME = "Signet command line";

/** A UUID of version 8 (RFC 9562 §5.8). */
export function commandLineClientId(orgId: string): string {
  const bytes = createHash("sha256").update(`signet command line\n${orgId.toLowerCase()}`).digest();
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x80;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return bytes.toString("hex", 0, 16).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

/** Makes it where there is none yet. One that is disabled stays so. */
export async function requireCommandLineClient(
  deps: RecordDeps,
  act: Pick<NewApplication, "orgId" | "actor" | "address">,
): Promise<void> {
  const { orgId } = act;
  const id = commandLineClientId(orgId);
  if (await isThere(deps.database.query, orgId, id)) return;
  const isOfOperators = (await findOperatorsOrganisation(deps.database.query)) === orgId;
  try {
    await createApplication(deps, {
      ...{ ...act, id, name: NAME, clientType: "native" as const },
      settings: {
        description: "Administrators sign in here to manage the organisation by commands (signet login).",
        grantTypes: [deviceCodeGrantType, "refresh_token"],
        allowedScopes: [...apiScopes, ...(isOfOperators ? operatorScopes : [])],
      },
    });
  } catch (error) {
    // Of two sign-ins at once, one makes it.
    if (!(await isThere(deps.database.query, orgId, id))) throw error;
  }
}

const isThere = async (db: Db, orgId: string, id: string): Promise<boolean> =>
  (await findApplication(db, orgId, id)) !== undefined;
