/** In whose name an application's tokens are issued. */
import type { Application } from "../applications/application.ts";
import { issuerOf } from "../organisations/organisation.ts";
import type { SigningPoolDirectory } from "./directory.ts";
import { issuerOfPool } from "./signing-pool.ts";

export interface ApplicationIssuerDeps {
  readonly baseUrl: string;
  readonly signingPools: SigningPoolDirectory;
}

/** Its pool's issuer when it has one, else the organisation's. */
export async function issuerOfApplication(
  { baseUrl, signingPools }: ApplicationIssuerDeps,
  { orgId, settings: { signingPoolId } }: Pick<Application, "orgId" | "settings">,
): Promise<string> {
  const pool = signingPoolId === undefined ? undefined : await signingPools.find(orgId, signingPoolId);
  return pool ? issuerOfPool(baseUrl, pool) : issuerOf(baseUrl, orgId);
}
