/** Calls of the management API that succeed: for people who are there, and for what was given before it is taken away. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { authorityPem } from "../../packages/server/src/testing/api-operations/api-client-authorities.ts";
import {
  callApi,
  makeSystemAccount,
  type TestAccount,
} from "../../packages/server/src/testing/fixtures/system-account.ts";
import { withUser } from "../../packages/server/src/testing/fixtures/visit.ts";
import {
  makeClient,
  type TestOrganisation,
  type TestService,
} from "../../packages/server/src/testing/test-service.ts";
import type { RealCalls } from "./real-calls.ts";

const RESOURCES = "/legacy/api/oauth/resources";
const AUTHORITIES = "/legacy/api/oauth/client-certificate-authorities";
const ACCOUNTS = "/legacy/api/oauth/system-accounts";

export function managementCalls(running: TestService, org: TestOrganisation, by: TestAccount): RealCalls {
  const { service, baseUrl } = running;
  return {
    [`POST ${AUTHORITIES}`]: async () => ({ body: { name: "Partner", certificate: authorityPem() } }),
    [`PUT ${AUTHORITIES}/{id}`]: async () => {
      const body = { name: "Partner", certificate: authorityPem() };
      const { text, ...made } = await callApi(`${baseUrl}${AUTHORITIES}`, by, { body, strictAt: Date.now() });
      assert.equal(made.status, 201, text);
      return { path: { id: String(made.body["id"]) }, body: { ...body, name: "Other" } };
    },
    [`PUT ${RESOURCES}/{id}`]: async () => {
      const body = { identifier: `https://${randomUUID()}.example`, name: "Orders" };
      const { text, ...made } = await callApi(`${baseUrl}${RESOURCES}`, by, { body, strictAt: Date.now() });
      assert.equal(made.status, 201, text);
      return { path: { id: String(made.body["id"]) }, body: { ...body, name: "Invoices" } };
    },
    "POST /legacy/api/oauth/consents/user": async () => {
      const { user } = await withUser(service, org, `consents-${randomUUID()}@acme.example`);
      return { body: { clientId: org.web.application.id, scopes: ["openid"], userId: user.id } };
    },
    [`DELETE ${ACCOUNTS}/{id}/permissions/{applicationId}`]: async () => {
      const { id } = await makeSystemAccount(service, org);
      const { application } = await makeClient(service, org.organisation, {});
      const path = { id, applicationId: application.id };
      await grantApplication(running, by, path);
      return { path };
    },
    [`DELETE ${ACCOUNTS}/{id}/keys/{keyId}`]: async () => {
      const { id } = await makeSystemAccount(service, org);
      const url = `${baseUrl}${ACCOUNTS}/${id}/keys`;
      const { status, body, text } = await callApi(url, by, { body: {}, strictAt: Date.now() });
      assert.equal(status, 201, text);
      return { path: { id, keyId: String(body["publicKey"]) } };
    },
  };
}

/** @param path of the permission: a system account, and an application that it is to act for */
export async function grantApplication(
  { baseUrl }: TestService,
  by: TestAccount,
  { id, applicationId }: { readonly id: string; readonly applicationId: string },
): Promise<void> {
  const url = `${baseUrl}${ACCOUNTS}/${id}/permissions/${applicationId}`;
  const { status, text } = await callApi(url, by, { method: "PUT", strictAt: Date.now() });
  assert.ok(status < 300, text);
}
