/** POST /oauth/{org}/devices/enroll: an enrollment code and a certificate signing request in, a certificate out. */
import Type from "typebox";
import type { OrganisationDirectory } from "../../../core/organisations/organisations.ts";
import { type ApiScope, apiRoute } from "../../../http/api/api-route.ts";
import { deviceDoor } from "./device-authentication.ts";
import { type EnrolDeviceDeps, enrolDevice } from "./enrol-device.ts";
import { type EnrollmentCodeDeps, findUsableCode } from "./enrollment-code.ts";
import { answerWith, certificateAnswer } from "./issued-certificate.ts";
import { closed, codeMember, csrMember, csrOf } from "./request-members.ts";

export interface EnrollRouteDeps extends EnrollmentCodeDeps, EnrolDeviceDeps {
  readonly organisations: Pick<OrganisationDirectory, "find">;
}

export function enrollRoute(api: ApiScope, deps: EnrollRouteDeps): void {
  apiRoute(
    api,
    deviceDoor(deps.organisations),
    {
      method: "POST",
      path: "/oauth/:org/devices/enroll",
      operationId: "enrollDevice",
      summary: "Enrol a device with a key that it keeps itself",
      description:
        "The enrollment code is the credential, and is used up by the answer alone: after a refusal it can be tried again. 403 `attestation_required` where the code or the organisation asks for a TPM.",
      tag: "Device identity",
      credential: "none",
      errorForm: "oauth",
      body: Type.Object({ code: codeMember, csr: csrMember }, { title: "DeviceEnrollment", ...closed }),
      example: {
        code: "8X2KQ-4M7RT-0WNHB-5VCDJ-9GPYA",
        csr: "-----BEGIN CERTIFICATE REQUEST-----\n…\n-----END CERTIFICATE REQUEST-----\n",
      },
      errors: [409, 429],
      answers: { 201: { description: "The certificate", schema: certificateAnswer } },
    },
    async ({ caller: { organisation, address }, body }) => {
      // The code before all else: a stranger has nothing read but its length.
      const { codeHash } = await findUsableCode(deps, organisation, body.code, address);
      const csr = csrOf(body.csr);
      return answerWith(await enrolDevice(deps, { organisation, codeHash, csr, address }));
    },
  );
}
