import assert from "node:assert/strict";
import { test } from "node:test";
import { OAuthError } from "@signet/protocol/oauth/oauth-error";
import { type Application, defaultSettings } from "../applications/application.ts";
import type { CustomScope } from "../scopes/custom-scope.ts";
import { type AccessRules, nameableBy, resolveAccess, tokenResource } from "./asked-access.ts";
import { type ProtectedResource, resourceDefaults } from "./protected-resource.ts";

const PAY = "https://pay.example/api";
const OTHER = "https://other.example";

const resource = (more: Partial<ProtectedResource> = {}): ProtectedResource => ({
  ...{ orgId: "tenant", id: "pay", identifier: PAY, name: "Pay", ...resourceDefaults },
  ...{ createdAt: 0, updatedAt: 0, version: 1, ...more },
});
const scope: CustomScope = {
  ...{ orgId: "tenant", id: "1", name: "pay", displayName: "Pay", description: "", claims: [] },
  ...{ sensitive: false, resourceId: "pay", createdAt: 0, updatedAt: 0, version: 1 },
};
const rules = (more: Partial<ProtectedResource> = {}): AccessRules => ({
  ...{ customScopes: [scope], resources: [resource(more)], detailTypes: [] },
  baseUrl: "https://id.example",
});
const application = (
  settings: Partial<Application["settings"]>,
  homeOrgId: string | null = null,
): Application => ({
  ...{
    orgId: "tenant",
    id: "app",
    name: "App",
    clientType: "confidential",
    secrets: [],
    source: "registered",
  },
  settings: { ...defaultSettings("confidential"), ...settings },
  ...{ homeOrgId, grantedScopes: null, createdAt: 0, updatedAt: 0, disabledAt: null, version: 1 },
});

test("what another organisation writes into its shared application reaches no resource here", () => {
  const vendors = { allowedScopes: ["openid"], allowedResources: [PAY, OTHER], audience: PAY };
  assert.deepEqual(nameableBy(application(vendors), rules()), [PAY, OTHER]);
  assert.deepEqual(nameableBy(application(vendors, "vendor"), rules()), [OTHER]);
  const asked = { scopes: ["openid"], resources: [] };
  assert.deepEqual(resolveAccess(asked, application(vendors), rules()).resources, [PAY]);
  assert.throws(
    () => resolveAccess(asked, application(vendors, "vendor"), rules()),
    (error) => error instanceof OAuthError && error.code === "invalid_target",
  );
  const granted = application({ ...vendors, allowedScopes: ["openid", "pay"] }, "vendor");
  assert.deepEqual(nameableBy(granted, rules()), [OTHER, PAY], "whose scopes this organisation has granted");
});

test("a disabled resource cannot be named, by whatever setting", () => {
  const all = { allowedScopes: ["pay"], allowedResources: [PAY], audience: PAY };
  assert.deepEqual(nameableBy(application(all), rules({ enabled: false })), []);
});

test("no pool signs for a resource that takes opaque tokens", () => {
  const pooled = application({ signingPoolId: "pool" });
  const access = { scopes: ["pay"], resources: [PAY] };
  assert.equal(tokenResource(access, pooled, rules())?.identifier, PAY);
  assert.throws(
    () => tokenResource(access, pooled, rules({ accessTokenFormat: "opaque" })),
    (error) => error instanceof OAuthError && error.code === "invalid_target",
  );
});
