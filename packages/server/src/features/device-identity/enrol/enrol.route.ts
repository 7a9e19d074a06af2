/** The endpoints of a device: enrolment with a code, in two steps with a TPM, and renewal by mutual TLS (device-identity.md §1). */
import Type from "typebox";
import type { OrganisationDirectory } from "../../../core/organisations/organisations.ts";
import { type ApiScope, apiRoute } from "../../../http/api/api-route.ts";
import { clientCertificate } from "../../../http/listeners/client-certificate.ts";
import { beginEnrolment, completeEnrolment } from "../tpm/tpm-enrolment.ts";
import { base64, MAX_CHAIN } from "../tpm/tpm-members.ts";
import { type EnrolDeviceDeps, enrolDevice } from "./enrol-device.ts";
import { findUsableCode } from "./enrolment-code.ts";
import { type RenewDeps, renewCertificate } from "./renew.ts";
import {
  certificateSchema,
  closed,
  codeMember,
  csrMember,
  deviceAuthenticator,
  parseCsr,
} from "./request-members.ts";

interface DeviceRouteDeps extends RenewDeps, EnrolDeviceDeps {
  readonly deviceCa: RenewDeps["deviceCa"];
  readonly organisations: Pick<OrganisationDirectory, "find">;
}

const shared = { method: "POST", tag: "Device identity", credential: "none", errorForm: "oauth" } as const;
const EXAMPLE_CODE = "8X2KQ-4M7RT-0WNHB-5VCDJ-9GPYA";
const EXAMPLE_CSR = "-----BEGIN CERTIFICATE REQUEST-----\n…\n-----END CERTIFICATE REQUEST-----\n";

export function deviceRoutes(api: ApiScope, deps: DeviceRouteDeps): void {
  enrolRoute(api, deps);
  beginRoute(api, deps);
  completeRoute(api, deps);
  renewRoute(api, deps);
}

function enrolRoute(api: ApiScope, deps: DeviceRouteDeps): void {
  apiRoute(api, {
    ...shared,
    path: "/oauth/:org/devices/enroll",
    operationId: "enrollDevice",
    summary: "Enrol a device without a TPM",
    description:
      "The enrolment code is the credential. It is redeemed only when a certificate is issued. 403 `attestation_required` when the code or the organisation requires a TPM.",
    body: Type.Object({ code: codeMember, csr: csrMember }, { title: "DeviceEnrollment", ...closed }),
    example: { code: EXAMPLE_CODE, csr: EXAMPLE_CSR },
    errors: [409, 429],
    answers: { 201: { description: "The certificate", schema: certificateSchema } },
    authenticator: deviceAuthenticator(deps.organisations),
    handler: async ({ caller: { organisation, address }, body }) => {
      // The code first: nothing else of an unauthenticated request is parsed.
      const { codeHash } = await findUsableCode(deps, organisation, body.code, address);
      const csr = parseCsr(body.csr);
      return { status: 201, body: await enrolDevice(deps, { organisation, codeHash, csr, address }) };
    },
  });
}

const beginBody = Type.Object(
  {
    code: codeMember,
    ek_certificate: base64(
      "the endorsement key's certificate (RSA-2048, P-256 or P-384), also as read from TPM NV memory",
    ),
    ek_chain: Type.Optional(
      Type.Array(base64("DER"), {
        maxItems: MAX_CHAIN,
        description: "intermediate certificates up to a root the organisation trusts",
      }),
    ),
    ak_public: base64("TPM2B_PUBLIC of the attestation key: restricted, ECC or RSA, SHA-256 or better"),
  },
  { title: "TpmEnrollmentBegin", ...closed },
);

const challenge = Type.Object(
  {
    challenge_id: Type.String({ format: "uuid" }),
    credential_blob: base64("TPM2B_ID_OBJECT for TPM2_ActivateCredential"),
    encrypted_secret: base64("TPM2B_ENCRYPTED_SECRET for TPM2_ActivateCredential"),
    nonce: base64("part of the qualifying data"),
    expires_in: Type.Integer({ description: "seconds" }),
  },
  { title: "TpmChallenge" },
);

function beginRoute(api: ApiScope, deps: DeviceRouteDeps): void {
  apiRoute(api, {
    ...shared,
    path: "/oauth/:org/devices/enroll/begin",
    operationId: "beginTpmEnrollment",
    summary: "Begin TPM enrolment",
    description:
      "The enrolment code is the credential. Returns a secret that only the TPM with the endorsement key and the attestation key can decrypt. A code has at most two challenges; a third replaces the oldest. 403 `attestation_disabled`, `ek_untrusted` or `ek_not_allowed`.",
    body: beginBody,
    example: { code: EXAMPLE_CODE, ek_certificate: "MIID…", ak_public: "AFgAIwAL…" },
    errors: [401, 403, 409, 429],
    answers: { 200: { description: "The challenge", schema: challenge } },
    authenticator: deviceAuthenticator(deps.organisations),
    handler: async ({ caller, body }) => ({ status: 200, body: await beginEnrolment(deps, caller, body) }),
  });
}

const completeBody = Type.Object(
  {
    challenge_id: Type.String({ maxLength: 100 }),
    secret: base64("the secret from TPM2_ActivateCredential"),
    csr: csrMember,
    key_public: base64("TPM2B_PUBLIC of the CSR's key"),
    attest: base64(
      "TPMS_ATTEST of TPM2_Certify or TPM2_CertifyCreation of that key by the attestation key, with the qualifying data SHA-256(`device-enroll-v1` 00 organisation 00 challenge_id 00, nonce, SHA-256(CSR as DER))",
    ),
    signature: base64("TPMT_SIGNATURE over `attest`"),
  },
  { title: "TpmEnrollmentComplete", ...closed },
);

function completeRoute(api: ApiScope, deps: DeviceRouteDeps): void {
  apiRoute(api, {
    ...shared,
    path: "/oauth/:org/devices/enroll/complete",
    operationId: "completeTpmEnrollment",
    summary: "Complete TPM enrolment",
    description:
      "The challenge is consumed in any case, the code only when a certificate is issued. 403 names the missing proof: `secret_mismatch`, `attest_signature`, `attest_type`, `attest_nonce`, `attest_name`, `key_attributes`, `csr_key_mismatch`.",
    body: completeBody,
    example: {
      challenge_id: "01998d6e-0000-7000-8000-000000000000",
      secret: "Wm9…",
      csr: EXAMPLE_CSR,
      key_public: "AFgAIwAL…",
      attest: "/1RDR4AX…",
      signature: "ABgACwAg…",
    },
    errors: [401, 403, 409, 410, 429],
    answers: { 201: { description: "The certificate", schema: certificateSchema } },
    authenticator: deviceAuthenticator(deps.organisations),
    handler: async ({ caller, body }) => ({ status: 201, body: await completeEnrolment(deps, caller, body) }),
  });
}

function renewRoute(api: ApiScope, deps: DeviceRouteDeps): void {
  apiRoute(api, {
    ...shared,
    credential: "device-certificate",
    path: "/oauth/:org/devices/renew",
    operationId: "renewDeviceCertificate",
    summary: "Renew a device's certificate, for its key or a new one",
    description:
      "The credential is the device's current certificate, presented by mutual TLS. Possible once, after two thirds of its lifetime; repeating the request returns the same certificate. The previous certificate stays valid for one more day. A device that was enrolled with a TPM attests a new key with `attest`, `signature` and `key_public`.",
    body: Type.Object(
      {
        csr: csrMember,
        attest: Type.Optional(base64("TPMS_ATTEST of TPM2_Certify by the attestation key")),
        signature: Type.Optional(base64("TPMT_SIGNATURE over `attest`")),
        key_public: Type.Optional(base64("TPM2B_PUBLIC of a new key")),
      },
      { title: "DeviceRenewal", ...closed },
    ),
    example: { csr: EXAMPLE_CSR },
    errors: [409, 429],
    answers: { 201: { description: "The next certificate", schema: certificateSchema } },
    authenticator: deviceAuthenticator(deps.organisations),
    handler: async ({ caller: { organisation, address }, request, body: { csr, ...evidence } }) => {
      const presented = clientCertificate(request);
      const renewal = { orgId: organisation.id, presented, csr, evidence, address };
      return { status: 201, body: await renewCertificate(deps, renewal) };
    },
  });
}
