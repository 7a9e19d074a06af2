/** Enrolment with a TPM in two steps: begin and complete (device-identity.md §1). */
import Type from "typebox";
import type { OrganisationDirectory } from "../../../core/organisations/organisations.ts";
import { type ApiScope, apiRoute } from "../../../http/api/api-route.ts";
import { deviceAuthenticator } from "../enrol/device-authentication.ts";
import { certificateResponse, certificateSchema } from "../enrol/issued-certificate.ts";
import { closed, codeMember, csrMember } from "../enrol/request-members.ts";
import { beginEnrolment, CHALLENGE_MS } from "./begin-enrolment.ts";
import { type CompleteEnrolmentDeps, completeEnrolment } from "./complete-enrolment.ts";
import { base64, MAX_CHAIN } from "./tpm-members.ts";

export interface TpmEnrolRouteDeps extends CompleteEnrolmentDeps {
  readonly organisations: Pick<OrganisationDirectory, "find">;
}

const shared = { method: "POST", tag: "Device identity", credential: "none", errorForm: "oauth" } as const;

export function tpmEnrolRoutes(api: ApiScope, deps: TpmEnrolRouteDeps): void {
  beginRoute(api, deps);
  completeRoute(api, deps);
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

function beginRoute(api: ApiScope, deps: TpmEnrolRouteDeps): void {
  apiRoute(api, {
    ...shared,
    path: "/oauth/:org/devices/enroll/begin",
    operationId: "beginTpmEnrollment",
    summary: "Begin TPM enrolment",
    description:
      "The enrolment code is the credential. Returns a secret that only the TPM with the endorsement key and the attestation key can decrypt. A code has at most two challenges; a third replaces the oldest. 403 `attestation_disabled`, `ek_untrusted` or `ek_not_allowed`.",
    body: beginBody,
    example: { code: "8X2KQ-4M7RT-0WNHB-5VCDJ-9GPYA", ek_certificate: "MIID…", ak_public: "AFgAIwAL…" },
    errors: [401, 403, 409, 429],
    answers: { 200: { description: "The challenge", schema: challenge } },
    authenticator: deviceAuthenticator(deps.organisations),
    handler: async ({ caller, body }) => {
      const begun = await beginEnrolment(deps, {
        ...caller,
        code: body.code,
        ekPath: { certificate: body.ek_certificate, chain: body.ek_chain ?? [] },
        akPublic: body.ak_public,
      });
      const answer = {
        challenge_id: begun.challengeId,
        credential_blob: begun.credentialBlob.toString("base64"),
        encrypted_secret: begun.encryptedSecret.toString("base64"),
        nonce: begun.nonce.toString("base64"),
        expires_in: CHALLENGE_MS / 1000,
      };
      return { status: 200, body: answer };
    },
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

function completeRoute(api: ApiScope, deps: TpmEnrolRouteDeps): void {
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
      csr: "-----BEGIN CERTIFICATE REQUEST-----\n…\n-----END CERTIFICATE REQUEST-----\n",
      key_public: "AFgAIwAL…",
      attest: "/1RDR4AX…",
      signature: "ABgACwAg…",
    },
    errors: [401, 403, 409, 410, 429],
    answers: { 201: { description: "The certificate", schema: certificateSchema } },
    authenticator: deviceAuthenticator(deps.organisations),
    handler: async ({ caller, body }) => {
      const { secret, csr, attest, signature } = body;
      const rest = { challengeId: body.challenge_id, keyPublic: body.key_public };
      return certificateResponse(
        await completeEnrolment(deps, { ...caller, secret, csr, attest, signature, ...rest }),
      );
    },
  });
}
