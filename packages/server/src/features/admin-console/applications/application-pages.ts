/** The pages of an application. */
import type { Application } from "../../../core/applications/application.ts";
import { findOwnApplication } from "../../../core/applications/applications.store.ts";
import { issuerOf } from "../../../core/organisations/organisation.ts";
import { findPool } from "../../../core/signing-pools/signing-pool.store.ts";
import { signingPoolIssuer, signingPoolJwksUri } from "../../../core/signing-pools/signing-pool.ts";
import type { ConsoleDeps } from "../../../page-kit/page.ts";
import { recordPages } from "../../../page-kit/record-pages.ts";
import type { Endpoint } from "./integration.page.ts";

/** With its secrets. */
export const applicationPages = recordPages(
  "applications",
  "/applications",
  findOwnApplication,
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

/** What the configuration of the application needs besides its ID. Its pool signs, and may be the issuer too. */
export async function findEndpoints(
  deps: Pick<ConsoleDeps, "database" | "baseUrl">,
  application: Application,
): Promise<{ issuer: string; discoveryUri: string; endpoints: Readonly<Record<Endpoint, string>> }> {
  const { pool, issuer } = await findIssuer(deps, application);
  const own = issuerOf(deps.baseUrl, application.orgId);
  const endpoints = {
    authorization: `${own}/authorize`,
    token: `${own}/token`,
    userinfo: `${own}/userinfo`,
    jwks: pool ? signingPoolJwksUri(deps.baseUrl, pool) : `${own}/.well-known/jwks.json`,
    endSession: `${own}/end_session`,
    device: `${own}/device`,
  };
  return { issuer, discoveryUri: `${own}/.well-known/openid-configuration`, endpoints };
}
