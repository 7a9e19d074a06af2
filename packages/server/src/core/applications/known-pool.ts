/** Checks that an application's signing pool belongs to its organisation. */
import type { Db } from "../../db/open.ts";
import { lockPool } from "../signing-pools/signing-pool.store.ts";
import type { ApplicationSettings } from "./application.ts";
import { InvalidApplication } from "./validation.ts";

/** @param tx locks the pool until its end. @throws InvalidApplication */
export async function requireKnownPool(
  tx: Db,
  orgId: string,
  { signingPoolId }: Pick<ApplicationSettings, "signingPoolId">,
): Promise<void> {
  if (signingPoolId === undefined || (await lockPool(tx, orgId, signingPoolId))) return;
  throw new InvalidApplication([
    { path: "signingPoolId", message: "names no signing pool of the organisation" },
  ]);
}
