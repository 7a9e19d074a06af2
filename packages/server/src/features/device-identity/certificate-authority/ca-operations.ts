/** The device CA's public documents, for /openapi.json. */
import Type from "typebox";
import { type DescribedOperation, oauthErrorAnswers } from "../../../http/api/described-operation.ts";

const shared = { tag: "Device identity", security: [] } as const;
const errors = oauthErrorAnswers([404, 500, 503]);
const cached = { ETag: "for If-None-Match: asked each time, told shortly when nothing has changed" };
const der = (what: string) => Type.String({ description: `${what}, DER`, examples: ["0…"] });

const ocspAnswer = {
  200: {
    description:
      "Good, revoked or unknown for each certificate, signed by the CA, with the nonce of the request; `malformedRequest` for what cannot be read",
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
      "Each is a root of its own. The first one issues; the others are there until the last certificate that they issued has expired.",
    answers: {
      200: {
        description: "PEM",
        schema: Type.String({ examples: ["-----BEGIN CERTIFICATE-----\n…\n-----END CERTIFICATE-----\n"] }),
        contentType: "application/x-pem-file",
        headers: cached,
      },
      304: { description: "Nothing has changed" },
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
      "Each certificate names its own. Good for a day, and signed anew at once when a device is revoked.",
    query: Type.Object({
      generation: Type.Optional(Type.Integer({ minimum: 1, description: "the newest when left out" })),
    }),
    answers: {
      200: {
        description: "The list",
        schema: der("CertificateList (RFC 5280)"),
        contentType: "application/pkix-crl",
        headers: cached,
      },
      304: { description: "Nothing has changed" },
      ...oauthErrorAnswers([400]),
      ...errors,
    },
  },
  {
    ...shared,
    method: "POST",
    path: "/oauth/:org/devices/ocsp",
    operationId: "askDeviceStatus",
    summary: "Whether device certificates are revoked (OCSP)",
    description:
      "Up to 8 KiB and 16 certificates of one generation, with a nonce of 1 to 32 bytes if wanted. The answer is as of this moment.",
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
    summary: "The same, with the request in the address",
    description: "The request in base64, with its `+`, `/` and `=` written as `%2B`, `%2F` and `%3D`.",
    answers: { ...ocspAnswer, ...errors },
  },
];
