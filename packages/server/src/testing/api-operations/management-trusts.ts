/** Trusts by the management API. */
import type { ApiCases, ApiWorld } from "./api-operation.ts";
import { caseOf, made, noBodyExpected, ownListOnly } from "./management.ts";

const trust = { kind: "software_statement", issuer: "https://vendor.example" };
const newTrust = async (world: ApiWorld) => `/trusts/${await made(world, "/trusts", trust)}`;

export const managementTrustCases: ApiCases = {
  "GET /legacy/api/oauth/trusts": caseOf("GET", {
    asked: async () => ({ path: "/trusts" }),
    status: 200,
    foreign: ownListOnly,
    wrong: ["/trusts?limit=x", "/trusts?cursor=x"],
  }),
  "GET /legacy/api/oauth/trusts/:id": caseOf("GET", {
    asked: async (world) => ({ path: await newTrust(world) }),
    status: 200,
    wrong: [],
  }),
  "POST /legacy/api/oauth/trusts": caseOf("POST", {
    asked: async () => ({ path: "/trusts", body: trust }),
    status: 201,
    notForeign: "what is made belongs to the caller's own organisation",
    wrong: [
      {},
      { ...trust, kind: "other" },
      { ...trust, subjectPattern: "repo:*" },
      { ...trust, claims: { ref: "*" } },
      { ...trust, id: "x" },
    ],
  }),
  "PUT /legacy/api/oauth/trusts/:id": caseOf("PUT", {
    asked: async (world) => ({ path: await newTrust(world), body: { issuer: trust.issuer, enabled: false } }),
    status: 200,
    wrong: [{}, { issuer: trust.issuer, kind: "workload" }, { issuer: trust.issuer, orgId: "x" }],
  }),
  "DELETE /legacy/api/oauth/trusts/:id": caseOf("DELETE", {
    asked: async (world) => ({ path: await newTrust(world) }),
    status: 204,
    wrong: noBodyExpected,
  }),
};
