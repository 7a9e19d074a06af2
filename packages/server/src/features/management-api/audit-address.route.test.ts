import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { listAuditEvents } from "../../core/audit/audit.store.ts";
import { callApi, makeSystemAccount, type TestAccount } from "../../testing/fixtures/system-account.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../testing/test-service.ts";

let running: TestService;
let org: TestOrganisation;
let administrator: TestAccount;
before(async () => {
  running = await startTestService({ databaseUrl: "sqlite::memory:" });
  org = await makeOrganisation(running.service);
  administrator = await makeSystemAccount(running.service, org, { administrator: true });
});
after(() => running.close());

test("from where an administrator's system account changed something is in the audit log", async () => {
  const call = async (method: string, path: string, body?: object) => {
    const url = `${running.service.config.baseUrl}/legacy/api/oauth/${path}`;
    const strictAt = Date.now();
    const answer = await callApi(url, administrator, { method, strictAt, ...(body ? { body } : {}) });
    assert.ok(answer.status < 300, `${method} ${path}: ${answer.text}`);
    return answer.body;
  };
  const redirectUris = ["https://app.example/callback"];
  const content = { name: "Made", redirectUris, allowedScopes: ["openid"] };
  const { clientId } = await call("POST", "clients", { ...content, clientType: "confidential" });
  const one = `clients/${clientId}`;
  await call("PUT", one, { ...content, name: "Changed" });
  await call("POST", `${one}/rotate-secret`, {});
  await call("POST", `${one}/revoke-old-secret`, {});
  await call("PUT", `${one}/users/${org.user.id}`);
  await call("DELETE", `${one}/users/${org.user.id}`);
  const granted = { clientId, scopes: ["openid"] };
  await call("POST", "consents/organisation", granted);
  const consent = await call("POST", "consents/user", { ...granted, userId: org.user.id });
  await call("DELETE", `consents/${consent["id"]}`);
  const ahead = await call("POST", "preauthorizations", granted);
  await call("DELETE", `preauthorizations/${ahead["id"]}`);
  const scope = { displayName: "Jobs", description: "Run jobs", claims: [] };
  const { id } = await call("POST", "scopes", { ...scope, name: "jobs:run" });
  await call("PUT", `scopes/${id}`, scope);
  await call("DELETE", `scopes/${id}`);
  const { id: accountId } = await call("POST", "system-accounts", {
    name: "Made",
    applicationId: org.web.application.id,
  });
  const account = `system-accounts/${accountId}`;
  await call("PUT", `${account}/permissions/${clientId}`);
  await call("DELETE", `${account}/permissions/${clientId}`);
  const { publicKey } = await call("POST", `${account}/keys`, {});
  await call("DELETE", `${account}/keys/${publicKey}`);
  const state = { name: "Changed", requireStrictSignature: false };
  await call("PUT", account, { ...state, enabled: false });
  await call("PUT", account, { ...state, enabled: true });
  await call("DELETE", account);
  await call("DELETE", one);

  const events = await listAuditEvents(running.service.database.query, org.organisation.id, 100);
  const theirs = events.filter(({ actor }) => actor === `system-account:${administrator.id}`);
  assert.deepEqual(
    new Set(theirs.map(({ action }) => action)).size,
    24,
    theirs.map((one) => one.action).join(),
  );
  assert.deepEqual(
    theirs.filter(({ address }) => address !== "127.0.0.1"),
    [],
  );
});
