/** Client certificate authorities by API v1. */
import { testCertificate } from "@signet/protocol/testing/test-certificate";
import { createClientAuthority } from "../../core/client-authorities/client-authorities.ts";
import type { ApiWorld } from "./api-operation.ts";
import { apiV1Cases, wrongBodies, wrongLists } from "./api-v1.ts";

export const authorityPem = (): string => testCertificate({ subject: "Partner", isCa: true }).pem;

async function newAuthority({ service, a }: ApiWorld): Promise<string> {
  const settings = { name: "Partner", certificate: authorityPem(), enabled: true };
  const act = { orgId: a.organisation.id, actor: "test" };
  const { id } = await createClientAuthority(service, { ...act, settings });
  return `/client-certificate-authorities/${id}`;
}

const reads = ["signet:applications:read"] as const;
const writes = ["signet:applications:write"] as const;
const list = () => "/client-certificate-authorities";
const leaf = testCertificate({ subject: "Leaf" }).pem;

export const apiClientAuthorityCases = apiV1Cases({
  "GET /client-certificate-authorities": {
    ...{ scopes: reads, path: list, status: 200, wrongQueries: wrongLists },
  },
  "GET /client-certificate-authorities/:id": { scopes: reads, path: newAuthority, status: 200 },
  "POST /client-certificate-authorities": {
    ...{ scopes: writes, path: list, status: 201 },
    options: () => ({ body: { name: "Partner", certificate: authorityPem() } }),
    wrong: [
      ...[...wrongBodies, {}, { name: "Partner" }, { certificate: authorityPem() }],
      ...[
        { name: "", certificate: authorityPem() },
        { name: "Partner", certificate: "x" },
      ],
      ...[
        { name: "Partner", certificate: leaf },
        { name: "Partner", certificate: authorityPem() + authorityPem() },
      ],
      { name: "Partner", certificate: authorityPem(), fingerprint: "x" },
      { name: "Partner", certificate: `${"x".repeat(30_000)}` },
      { name: "a\nb", certificate: authorityPem() },
      { name: "Partner", certificate: authorityPem(), enabled: "yes" },
    ],
  },
  "PATCH /client-certificate-authorities/:id": {
    ...{ scopes: writes, path: newAuthority, options: () => ({ body: { enabled: false } }), status: 200 },
    wrong: [
      ...[...wrongBodies, { name: null }, { certificate: null }, { certificate: leaf }, { subject: "CN=x" }],
      ...[{ enabled: "no" }, { name: "" }],
    ],
  },
  "DELETE /client-certificate-authorities/:id": {
    ...{ scopes: writes, path: newAuthority, status: 204, wrong: [{}] },
  },
});
