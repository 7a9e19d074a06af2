/** The device CA's public documents in /openapi.json. */
import Type from "typebox";
import { type DescribedOperation, oauthErrorAnswers } from "../../../http/api/described-operation.ts";

const shared = { tag: "Device identity", security: [] } as const;
const errors = oauthErrorAnswers([404, 500, 503]);
const cached = { ETag: "for If-None-Match; revalidate at every use" };
const der = (what: string) => Type.String({ description: `${what}, DER`, examples: ["0…"] });

const ocspAnswer = {
  200: {
    description:
      "Good, revoked or unknown for each certificate, signed by the CA, with the request's nonce; `malformedRequest` for an invalid request",
    schema: der("OCSPResponse (RFC 6960)"),
    contentType: "application/ocsp-response",
  },
};

export const caOperations: readonly DescribedOperation[] = [
  {
    ...shared,
    method: "GET",
    path: "/oauth/:org/devices/ca.pem",
    operationId: "getDeviceCa",
    summary: "The certificates of the organisation's device CA, newest first",
    description:
      "Each is a self-signed root. The first one issues; the others stay until their last certificate has expired.",
    answers: {
      200: {
        description: "PEM",
        schema: Type.String({ examples: ["-----BEGIN CERTIFICATE-----\n…\n-----END CERTIFICATE-----\n"] }),
        contentType: "application/x-pem-file",
        headers: cached,
      },
      304: { description: "Not modified" },
      ...errors,
    },
  },
  {
    ...shared,
    method: "GET",
    path: "/oauth/:org/devices/ca.crl",
    operationId: "getDeviceCrl",
    summary: "The certificate revocation list of one generation of the device CA",
    description:
      "Each certificate names its CRL. Valid for a day; a new one is signed immediately after a revocation.",
    query: Type.Object({
      generation: Type.Optional(Type.Integer({ minimum: 1, description: "default: the newest" })),
    }),
    answers: {
      200: {
        description: "The list",
        schema: der("CertificateList (RFC 5280)"),
        contentType: "application/pkix-crl",
        headers: cached,
      },
      304: { description: "Not modified" },
      ...oauthErrorAnswers([400]),
      ...errors,
    },
  },
  {
    ...shared,
    method: "POST",
    path: "/oauth/:org/devices/ocsp",
    operationId: "askDeviceStatus",
    summary: "Check device certificates by OCSP",
    description:
      "Up to 8 KiB and 16 certificates of one generation, with an optional nonce. The response is always current.",
    body: {
      contentType: "application/ocsp-request",
      isOptional: false,
      schema: der("OCSPRequest (RFC 6960)"),
      example: "0…",
    },
    answers: { ...ocspAnswer, ...oauthErrorAnswers([413, 415]), ...errors },
  },
  {
    ...shared,
    method: "GET",
    path: "/oauth/:org/devices/ocsp/*",
    operationId: "getDeviceStatus",
    summary: "Check device certificates by OCSP (GET)",
    description: "The request in base64, with `+`, `/` and `=` percent-encoded.",
    answers: { ...ocspAnswer, ...errors },
  },
];
