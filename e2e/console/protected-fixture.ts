/** APIs, and who gets tokens for them, as the console's journeys find them. */
import { createDetailType } from "../../packages/server/src/core/authorization-details/detail-types.ts";
import { createClientAuthority } from "../../packages/server/src/core/client-authorities/client-authorities.ts";
import { exampleCertificate } from "../../packages/server/src/core/client-authorities/example-certificate.ts";
import { initialAccessTokenSettings } from "../../packages/server/src/core/client-registration/initial-access-token-schemas.ts";
import { createInitialAccessToken } from "../../packages/server/src/core/client-registration/initial-access-tokens.ts";
import { createResource } from "../../packages/server/src/core/protected-resources/protected-resources.ts";
import { createCustomScope } from "../../packages/server/src/core/scopes/custom-scopes.ts";
import { createExchangePolicy } from "../../packages/server/src/core/token-exchange/exchange-policies.ts";
import { policySettings } from "../../packages/server/src/core/token-exchange/policy-schemas.ts";
import { trustSettings } from "../../packages/server/src/core/trusts/trust-schemas.ts";
import { createTrust } from "../../packages/server/src/core/trusts/trusts.ts";
import { detailTypeExample } from "../../packages/server/src/features/management-api/authorization-detail-types.route.ts";
import type { Service } from "../../packages/server/src/modules/open-service.ts";

const actor = "operator";

export async function furnishProtected(
  service: Service,
  orgId: string,
  applicationId: string,
): Promise<Record<string, string>> {
  const deps = { ...service, baseUrl: service.config.baseUrl };
  const act = { orgId, actor };
  for (const name of ["invoices:read", "invoices:approve"])
    await createCustomScope(service, {
      ...{ ...act, name, description: "", claims: [], sensitive: name.endsWith("approve") },
      displayName: name.endsWith("approve") ? "Approve invoices" : "See invoices",
    });
  const resource = await createResource(deps, {
    ...{ ...act, scopes: ["invoices:read", "invoices:approve"] },
    settings: {
      ...{ identifier: "https://billing.northwind.example/api", name: "Billing", applicationId },
      ...{
        senderConstraint: "dpop",
        accessTokenLifetimeSeconds: 300,
        agentDeniedScopes: ["invoices:approve"],
      },
    },
  });
  const trust = await createTrust(deps, {
    ...act,
    settings: trustSettings("workload", {
      ...{ clientId: applicationId, issuer: "https://token.actions.githubusercontent.com" },
      ...{ subjectPattern: "repo:northwind/site:ref:refs/heads/*", claims: { ref_protected: "true" } },
    }),
  });
  const policy = await createExchangePolicy(deps, {
    ...act,
    settings: policySettings({
      ...{ name: "Payroll reads invoices", clientId: applicationId, scopes: ["invoices:read"] },
      target: "https://billing.northwind.example/api",
    }),
  });
  const authority = await createClientAuthority(service, {
    ...act,
    settings: { name: "Partner CA", certificate: exampleCertificate, enabled: true },
  });
  const detailType = await createDetailType(service, {
    ...{ ...act, type: "payment_initiation", displayName: "Payments", enabled: true },
    ...{ template: detailTypeExample.template, schema: detailTypeExample.schema },
    resource: "https://billing.northwind.example/api",
  });
  const { record: token } = await createInitialAccessToken(service, {
    ...act,
    settings: initialAccessTokenSettings(
      { label: "Build agents", maxUses: 20, allowedScopes: ["openid", "invoices:read"] },
      { now: service.clock(), readTime: () => undefined },
    ),
  });
  return {
    ...{ "authorization-detail-types": detailType.id, "initial-access-tokens": token.id },
    ...{ resources: resource.id, trusts: trust.id, "token-exchange": policy.id },
    "client-authorities": authority.id,
  };
}
