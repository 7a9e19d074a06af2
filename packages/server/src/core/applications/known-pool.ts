/** The pool that signs for an application is one of its own organisation. */
import type { Db } from "../../db/open.ts";
import { findPool } from "../signing-pools/store.ts";
import type { ApplicationSettings } from "./application.ts";
import { InvalidApplication } from "./validation.ts";

/** @throws InvalidApplication */
export async function requireKnownPool(
  db: Db,
  orgId: string,
  { signingPoolId }: Pick<ApplicationSettings, "signingPoolId">,
): Promise<void> {
  if (signingPoolId === undefined || (await findPool(db, orgId, signingPoolId))) return;
  throw new InvalidApplication([
    { path: "signingPoolId", message: "names no signing pool of the organisation" },
  ]);
}
