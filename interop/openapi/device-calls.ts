/** Calls that succeed of devices, with a TPM and without, and of who manages them. */
import assert from "node:assert/strict";
import { newEcKey } from "../../packages/protocol/src/testing/test-certificate.ts";
import { importRoots } from "../../packages/server/src/features/device-identity/ek-trust/roots.ts";
import { readTrustFile } from "../../packages/server/src/features/device-identity/ek-trust/trust-file.ts";
import {
  activated,
  beginBody,
  completeBody,
  softTpmDevice,
  softVendor,
} from "../../packages/server/src/testing/fakes/soft-tpm-device.ts";
import { postJson } from "../../packages/server/src/testing/fixtures/client.ts";
import { csrOf, enrolledByCode, newCode } from "../../packages/server/src/testing/fixtures/enrolments.ts";
import { callApi, type TestAccount } from "../../packages/server/src/testing/fixtures/system-account.ts";
import type { TestOrganisation, TestService } from "../../packages/server/src/testing/test-service.ts";
import type { RealCalls } from "./real-calls.ts";

/** Base64 of an OCSP request that asks for nothing (RFC 6960, appendix A.1). */
const OCSP_REQUEST = "MAQwAjAA";

/** @param account sets the policy back */
export async function deviceCalls(
  { service, baseUrl }: TestService,
  org: TestOrganisation,
  account: TestAccount,
): Promise<RealCalls> {
  const { id: orgId } = org.organisation;
  const vendor = softVendor();
  await importRoots(service, { orgId, actor: "test" }, [readTrustFile("root", Buffer.from(vendor.root.pem))]);
  // Enrolled now: a policy that schemathesis sets may want what this device has not.
  const { deviceId } = await enrolledByCode(service, org.issuer);
  /** Schemathesis sets policies that want a TPM, or one that is on a list. */
  const code = async () => {
    const policy = { body: { attestation: "optional", ekTrust: "chain" }, strictAt: Date.now() };
    const { status, text } = await callApi(`${baseUrl}/devices/manage/${orgId}/policy`, account, policy);
    assert.ok(status < 300, text);
    return newCode(service, orgId);
  };
  const begin = async (device = softTpmDevice(vendor)) => beginBody(device, await code());
  return {
    "GET /oauth/{org}/devices/ocsp/{rest}": async () => ({ path: { rest: OCSP_REQUEST } }),
    "POST /oauth/{org}/devices/enroll": async () => ({
      body: { code: await code(), csr: await csrOf(newEcKey()) },
    }),
    "POST /oauth/{org}/devices/enroll/begin": async () => ({ body: await begin() }),
    "POST /oauth/{org}/devices/enroll/complete": async () => {
      const device = softTpmDevice(vendor);
      const { body } = await postJson(`${org.issuer}/devices/enroll/begin`, await begin(device));
      return { body: await completeBody(device, orgId, activated(device, body)) };
    },
    "POST /devices/manage/{org}/{id}/revoke": async () => ({
      path: { id: deviceId },
      body: { reason: "keyCompromise" },
    }),
  };
}
