/** POST /oauth/{org}/devices/enroll/begin and /enroll/complete: enrolment of a device whose key a TPM vouches for (device-identity.md §1). */
import Type from "typebox";
import type { OrganisationDirectory } from "../../../core/organisations/organisations.ts";
import { type ApiScope, apiRoute } from "../../../http/api/api-route.ts";
import { deviceDoor } from "../enroll/device-authentication.ts";
import { answerWith, certificateAnswer } from "../enroll/issued-certificate.ts";
import { closed, codeMember, csrMember } from "../enroll/request-members.ts";
import { beginEnrolment, CHALLENGE_MS } from "./begin-enrolment.ts";
import { type CompleteEnrolmentDeps, completeEnrolment } from "./complete-enrolment.ts";
import { base64, MOST_CHAIN } from "./tpm-members.ts";

export interface TpmEnrollRouteDeps extends CompleteEnrolmentDeps {
  readonly organisations: Pick<OrganisationDirectory, "find">;
}

const shared = { method: "POST", tag: "Device identity", credential: "none", errorForm: "oauth" } as const;

export function tpmEnrollRoutes(api: ApiScope, deps: TpmEnrollRouteDeps): void {
  beginRoute(api, deps);
  completeRoute(api, deps);
}

const beginBody = Type.Object(
  {
    code: codeMember,
    ek_certificate: base64(
      "the certificate of the endorsement key (RSA-2048, P-256 or P-384), also as the TPM's memory has it",
    ),
    ek_chain: Type.Optional(
      Type.Array(base64("DER"), {
        maxItems: MOST_CHAIN,
        description: "the authorities between it and a root that the organisation trusts",
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
    encrypted_secret: base64("TPM2B_ENCRYPTED_SECRET for the same"),
    nonce: base64("goes into the qualifying data"),
    expires_in: Type.Integer({ description: "seconds" }),
  },
  { title: "TpmChallenge" },
);

function beginRoute(api: ApiScope, deps: TpmEnrollRouteDeps): void {
  apiRoute(
    api,
    deviceDoor(deps.organisations),
    {
      ...shared,
      path: "/oauth/:org/devices/enroll/begin",
      operationId: "beginTpmEnrollment",
      summary: "Begin to enrol a device with a TPM",
      description:
        "The enrollment code is the credential. The answer hides a secret that only the TPM of the endorsement key can read, and only with the attestation key in it. A code has two challenges at most: an older one ends. 403 `attestation_disabled`, `ek_untrusted` or `ek_not_allowed`.",
      body: beginBody,
      example: { code: "8X2KQ-4M7RT-0WNHB-5VCDJ-9GPYA", ek_certificate: "MIID…", ak_public: "AFgAIwAL…" },
      errors: [401, 403, 409, 429],
      answers: { 200: { description: "The challenge", schema: challenge } },
    },
    async ({ caller, body }) => {
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
  );
}

const completeBody = Type.Object(
  {
    challenge_id: Type.String({ maxLength: 100 }),
    secret: base64("what TPM2_ActivateCredential gave"),
    csr: csrMember,
    key_public: base64("TPM2B_PUBLIC of the key of the request"),
    attest: base64(
      "TPMS_ATTEST of TPM2_Certify or TPM2_CertifyCreation of that key by the attestation key, with the qualifying data SHA-256(`device-enroll-v1` 00 organisation 00 challenge_id 00, nonce, SHA-256(CSR as DER))",
    ),
    signature: base64("TPMT_SIGNATURE over it"),
  },
  { title: "TpmEnrollmentComplete", ...closed },
);

function completeRoute(api: ApiScope, deps: TpmEnrollRouteDeps): void {
  apiRoute(
    api,
    deviceDoor(deps.organisations),
    {
      ...shared,
      path: "/oauth/:org/devices/enroll/complete",
      operationId: "completeTpmEnrollment",
      summary: "Complete the enrolment of a device with a TPM",
      description:
        "The challenge is used up, whatever the answer; the code by a certificate alone. 403 names what is not proven: `secret_mismatch`, `attest_signature`, `attest_type`, `attest_nonce`, `attest_name`, `key_attributes`, `csr_key_mismatch`.",
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
      answers: { 201: { description: "The certificate", schema: certificateAnswer } },
    },
    async ({ caller, body }) => {
      const { secret, csr, attest, signature } = body;
      const rest = { challengeId: body.challenge_id, keyPublic: body.key_public };
      return answerWith(
        await completeEnrolment(deps, { ...caller, secret, csr, attest, signature, ...rest }),
      );
    },
  );
}
