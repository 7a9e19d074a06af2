/** Enrolment without a TPM: an enrolment code and a CSR for a certificate. */
import Type from "typebox";
import type { OrganisationDirectory } from "../../../core/organisations/organisations.ts";
import { type ApiScope, apiRoute } from "../../../http/api/api-route.ts";
import { deviceAuthenticator } from "./device-authentication.ts";
import { type EnrolDeviceDeps, enrolDevice } from "./enrol-device.ts";
import { type EnrolmentCodeDeps, findUsableCode } from "./enrolment-code.ts";
import { certificateResponse, certificateSchema } from "./issued-certificate.ts";
import { closed, codeMember, csrMember, parseCsr } from "./request-members.ts";

export interface EnrolRouteDeps extends EnrolmentCodeDeps, EnrolDeviceDeps {
  readonly organisations: Pick<OrganisationDirectory, "find">;
}

export function enrolRoute(api: ApiScope, deps: EnrolRouteDeps): void {
  apiRoute(api, {
    method: "POST",
    path: "/oauth/:org/devices/enroll",
    operationId: "enrollDevice",
    summary: "Enrol a device without a TPM",
    description:
      "The enrolment code is the credential. It is redeemed only when a certificate is issued. 403 `attestation_required` when the code or the organisation requires a TPM.",
    tag: "Device identity",
    credential: "none",
    errorForm: "oauth",
    body: Type.Object({ code: codeMember, csr: csrMember }, { title: "DeviceEnrollment", ...closed }),
    example: {
      code: "8X2KQ-4M7RT-0WNHB-5VCDJ-9GPYA",
      csr: "-----BEGIN CERTIFICATE REQUEST-----\n…\n-----END CERTIFICATE REQUEST-----\n",
    },
    errors: [409, 429],
    answers: { 201: { description: "The certificate", schema: certificateSchema } },
    authenticator: deviceAuthenticator(deps.organisations),
    handler: async ({ caller: { organisation, address }, body }) => {
      // The code first: nothing else of an unauthenticated request is parsed.
      const { codeHash } = await findUsableCode(deps, organisation, body.code, address);
      const csr = parseCsr(body.csr);
      return certificateResponse(await enrolDevice(deps, { organisation, codeHash, csr, address }));
    },
  });
}
