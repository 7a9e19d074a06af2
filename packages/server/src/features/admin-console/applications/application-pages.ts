/** The pages of an application. */
import type { Application } from "../../../core/applications/application.ts";
import { findApplication } from "../../../core/applications/applications.store.ts";
import { issuerOf } from "../../../core/organisations/organisation.ts";
import { findPool } from "../../../core/signing-pools/signing-pool.store.ts";
import { signingPoolIssuer } from "../../../core/signing-pools/signing-pool.ts";
import type { ConsoleDeps } from "../../../page-kit/page.ts";
import { recordPages } from "../../../page-kit/record-pages.ts";

/** With its secrets. */
export const applicationPages = recordPages(
  "applications",
  "/applications",
  findApplication,
  ({ name }: Application) => name,
);

/** Its signing pool, if it has one, and the issuer of its tokens. */
export async function findIssuer(
  { database, baseUrl }: Pick<ConsoleDeps, "database" | "baseUrl">,
  { orgId, settings: { signingPoolId } }: Application,
) {
  const pool = signingPoolId === undefined ? undefined : await findPool(database.query, orgId, signingPoolId);
  return { pool, issuer: pool ? signingPoolIssuer(baseUrl, pool) : issuerOf(baseUrl, orgId) };
}
