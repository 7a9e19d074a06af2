/** Renewal of a device certificate that is presented by mutual TLS. */
import Type from "typebox";
import type { OrganisationDirectory } from "../../../core/organisations/organisations.ts";
import { type ApiScope, apiRoute } from "../../../http/api/api-route.ts";
import { clientCertificate } from "../../../http/listeners/client-certificate.ts";
import { deviceAuthenticator } from "./device-authentication.ts";
import { certificateResponse, certificateSchema } from "./issued-certificate.ts";
import { type RenewDeps, renewCertificate } from "./renew.ts";
import { closed, csrMember } from "./request-members.ts";

export interface RenewRouteDeps extends RenewDeps {
  readonly organisations: Pick<OrganisationDirectory, "find">;
}

const base64 = (description: string) => Type.Optional(Type.String({ description: `base64: ${description}` }));

export function renewRoute(api: ApiScope, deps: RenewRouteDeps): void {
  apiRoute(api, {
    method: "POST",
    path: "/oauth/:org/devices/renew",
    operationId: "renewDeviceCertificate",
    summary: "Renew a device's certificate, for its key or a new one",
    description:
      "The credential is the device's current certificate, presented by mutual TLS. Possible once, after two thirds of its lifetime; repeating the request returns the same certificate. The previous certificate stays valid for one more day. A device that was enrolled with a TPM attests a new key with `attest`, `signature` and `key_public`.",
    tag: "Device identity",
    credential: "device-certificate",
    errorForm: "oauth",
    body: Type.Object(
      {
        csr: csrMember,
        attest: base64("TPMS_ATTEST of TPM2_Certify by the attestation key"),
        signature: base64("TPMT_SIGNATURE over `attest`"),
        key_public: base64("TPM2B_PUBLIC of a new key"),
      },
      { title: "DeviceRenewal", ...closed },
    ),
    example: { csr: "-----BEGIN CERTIFICATE REQUEST-----\n…\n-----END CERTIFICATE REQUEST-----\n" },
    errors: [409, 429],
    answers: { 201: { description: "The next certificate", schema: certificateSchema } },
    authenticator: deviceAuthenticator(deps.organisations),
    handler: async ({ caller: { organisation, address }, request, body }) => {
      const { csr, attest, signature, key_public: keyPublic } = body;
      const renewed = await renewCertificate(deps, {
        orgId: organisation.id,
        presented: clientCertificate(request),
        csr,
        evidence: {
          ...(attest === undefined ? {} : { attest }),
          ...(signature === undefined ? {} : { signature }),
          ...(keyPublic === undefined ? {} : { keyPublic }),
        },
        address,
      });
      return certificateResponse(renewed);
    },
  });
}
