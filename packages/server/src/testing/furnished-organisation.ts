/** An organisation with something of everything that a configuration file can hold, and of what it never holds. */
import type { Application } from "../core/applications/application.ts";
import { type ApplicationDeps, createApplication } from "../core/applications/applications.ts";
import { createClientSecret } from "../core/applications/client-secrets.ts";
import { createPreauthorization, grantOrganisationConsent } from "../core/consents/consents.ts";
import { grantUserConsent } from "../core/consents/store.ts";
import { changeOrganisationSettings, createOrganisation } from "../core/organisations/organisations.ts";
import { createCustomScope } from "../core/scopes/custom-scopes.ts";

const actor = "operator";

/** @returns its id */
export async function furnishedOrganisation(deps: ApplicationDeps): Promise<string> {
  const { id: orgId } = await createOrganisation(deps, deps.database.query, { name: "Acme", actor });
  const branding = { accentColor: "#123456", logoUri: "https://acme.example/logo.png" };
  const settings = { branding, secondFactor: "required", sessionIdleSeconds: 600 } as const;
  await changeOrganisationSettings(deps, { orgId, settings, actor });
  await makeScopes(deps, orgId);
  const shop = await makeApplications(deps, orgId);
  const applicationId = shop.id;
  await createClientSecret(deps, { orgId, applicationId, label: "first", expiresAt: null, actor });
  await grantOrganisationConsent(deps, { application: shop, scopes: ["openid", "email"], actor });
  await createPreauthorization(deps, { application: shop, scopes: ["payroll", "openid"], actor });
  await createPreauthorization(deps, { application: shop, scopes: ["openid"], actor });
  const user = { orgId, applicationId, userId: "b0f7a9d2-0000-4000-8000-000000000000", scopes: ["openid"] };
  await grantUserConsent(deps.database.query, { ...user, fingerprints: {}, now: deps.clock() });
  return orgId;
}

async function makeScopes(deps: ApplicationDeps, orgId: string): Promise<void> {
  const scope = { orgId, displayName: "Pay", description: "See it", sensitive: true, actor };
  await createCustomScope(deps, {
    ...scope,
    name: "payroll",
    claims: [
      { name: "tier", source: "static", value: { b: [1, "x"], a: null } },
      { name: "department", source: "user", path: "attributes.department" },
    ],
  });
  await createCustomScope(deps, { ...scope, name: "agenda", claims: [] });
}

/** @returns the shop */
async function makeApplications(deps: ApplicationDeps, orgId: string): Promise<Application> {
  const shop = await createApplication(deps, {
    orgId,
    name: "Shop",
    clientType: "confidential",
    settings: {
      description: "Sells",
      redirectUris: ["https://shop.example/z", "https://shop.example/a"],
      allowedScopes: ["payroll", "openid", "email"],
      contacts: ["zoe@shop.example", "abe@shop.example"],
      audience: "https://api.shop.example",
      consentMode: "organisation",
      access: "assigned",
      refreshTokenGraceSeconds: 0,
    },
    actor,
  });
  const key = { kty: "OKP", crv: "Ed25519", x: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo" };
  await createApplication(deps, {
    orgId,
    name: "Bank",
    clientType: "confidential",
    settings: { tokenEndpointAuthMethod: "private_key_jwt", jwks: { keys: [key] } },
    actor,
  });
  const phone = { orgId, name: "Phone", clientType: "native", actor, disabled: true } as const;
  await createApplication(deps, { ...phone, settings: { redirectUris: ["com.example.phone:/callback"] } });
  return shop;
}
