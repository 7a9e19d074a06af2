/** What the subject of an access token has by now, in the application that the token is for (api-v1.md, "In tokens"). */
import type { Application } from "../applications/application.ts";
import type { ApplicationDirectory } from "../applications/applications.ts";
import { entitledClaims, entitledValues } from "../roles/entitled-claims.ts";
import type { Entitlements } from "../roles/entitlement.ts";
import type { EntitlementDirectory } from "../roles/entitlements.ts";
import { applicationOfToken } from "../roles/token-application.ts";
import type { Claims } from "../scopes/custom-claims.ts";
import type { EntitlementScope } from "../scopes/scopes.ts";
import type { AccessTokenClaims } from "./claims.ts";
import { familyIdFromTokenId } from "./token-family.ts";

export interface EntitledDeps {
  readonly applications: ApplicationDirectory;
  readonly entitlements: EntitlementDirectory;
}

interface Held {
  readonly application: Application;
  readonly entitlements: Entitlements;
}

/** Undefined when the token is for several applications by now, or its client is gone. */
async function heldBy(deps: EntitledDeps, claims: AccessTokenClaims): Promise<Held | undefined> {
  const { org_id: orgId, client_id, sub, aud, jti } = claims;
  const client = await deps.applications.find(orgId, client_id);
  const audience = typeof aud === "string" ? [aud] : aud;
  const application = client && (await applicationOfToken(deps, client, audience));
  if (!application) return undefined;
  const isOfUser = familyIdFromTokenId(jti) !== undefined;
  const entitlements = isOfUser
    ? await deps.entitlements.ofUser(orgId, sub)
    : await deps.entitlements.ofClient(orgId, client.id);
  return { application, entitlements };
}

export async function entitledByToken(
  deps: EntitledDeps,
  claims: AccessTokenClaims,
  scopes: readonly EntitlementScope[],
): Promise<Claims> {
  const held = scopes.length === 0 ? undefined : await heldBy(deps, claims);
  if (held) return entitledClaims(held.entitlements, held.application, scopes);
  return Object.fromEntries(scopes.map((name) => [name, []]));
}

/** All of them, sorted, however many. */
export async function entitledValuesOfToken(
  deps: EntitledDeps,
  claims: AccessTokenClaims,
  claim: EntitlementScope,
): Promise<readonly string[]> {
  const held = await heldBy(deps, claims);
  return held ? entitledValues(held.entitlements, held.application, claim) : [];
}
