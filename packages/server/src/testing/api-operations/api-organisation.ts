/** The organisation, its signing keys and its audit log by API v1. */
import { listAuditEvents } from "../../core/audit/audit.store.ts";
import { listSigningKeys } from "../../core/signing-keys/signing-keys.store.ts";
import { pngOf } from "../fixtures/images.ts";
import { newWaitingSignUp } from "../fixtures/waiting-sign-up.ts";
import type { ApiWorld } from "./api-operation.ts";
import { apiV1Cases, wrongBodies, wrongLists } from "./api-v1.ts";

const terms = { version: "2026-11", url: "https://acme.example/terms" };

const newSignUp = async ({ service, a }: ApiWorld): Promise<string> =>
  `/sign-ups/${await newWaitingSignUp(service, a.organisation.id)}`;

const newestEvent = async ({ database }: ApiWorld["service"], orgId: string): Promise<string> =>
  (await listAuditEvents(database.query, orgId, 1))[0]?.id ?? "";

const reads = ["signet:organisation:read"] as const;
const writes = ["signet:organisation:write"] as const;
const audit = ["signet:audit:read"] as const;
const wrongEvents = wrongLists.filter((query) => !query.includes("createdAt"));

export const apiOrganisationCases = apiV1Cases({
  "GET ": { scopes: reads, path: () => "", status: 200 },
  "PATCH ": {
    scopes: writes,
    path: () => "",
    options: () => ({ body: { policies: { passwordMinLength: 15 } } }),
    status: 200,
    wrong: [...wrongBodies, { name: null }, { policies: { passwordMinLength: 1 } }, { branding: { a: 1 } }],
  },
  "GET /sign-in": { scopes: reads, path: () => "/sign-in", status: 200 },
  "PUT /sign-in": {
    scopes: writes,
    path: () => "/sign-in",
    options: () => ({ body: { methods: ["passkey", "password", "emailCode"], passkeyEnrolment: "offer" } }),
    status: 200,
    wrong: [
      ...wrongBodies,
      ...[{ methods: [] }, { methods: ["totp"] }, { methods: ["passkey", "passkey"] }, { methods: null }],
      ...[{ passkeyEnrolment: "always" }, { order: [] }],
    ],
  },
  "GET /sign-up": { scopes: reads, path: () => "/sign-up", status: 200 },
  "PUT /sign-up": {
    scopes: writes,
    path: () => "/sign-up",
    options: () => ({ body: { mode: "approval", terms } }),
    status: 200,
    wrong: [
      ...wrongBodies,
      ...[{ mode: "closed" }, { mode: null }, { groups: ["x"] }],
      ...[{ terms: { ...terms, url: "http://acme.example" } }, { terms: { version: "1" } }, { more: 1 }],
    ],
  },
  "GET /sign-ups": { scopes: reads, path: () => "/sign-ups", status: 200, wrongQueries: wrongLists },
  "GET /sign-ups/:id": { scopes: reads, path: newSignUp, status: 200 },
  "POST /sign-ups/:id/approve": {
    ...{ scopes: writes, status: 200, wrong: [{ unknown: 1 }] },
    path: async (world) => `${await newSignUp(world)}/approve`,
  },
  "POST /sign-ups/:id/reject": {
    ...{ scopes: writes, status: 200, wrong: [{ unknown: 1 }, { reason: "" }, { reason: 1 }] },
    path: async (world) => `${await newSignUp(world)}/reject`,
    options: () => ({ body: { reason: "Not a customer" } }),
  },
  "GET /signing-keys": {
    scopes: reads,
    path: () => "/signing-keys",
    status: 200,
    wrongQueries: wrongLists,
  },
  "GET /signing-keys/:kid": {
    scopes: reads,
    path: async ({ service, a }) => {
      const [key] = await listSigningKeys(service.database.query, a.organisation.id);
      return `/signing-keys/${key?.kid}`;
    },
    status: 200,
  },
  "POST /signing-keys": {
    scopes: writes,
    path: () => "/signing-keys",
    options: () => ({ body: { alg: "EdDSA" } }),
    status: 201,
    wrong: [...wrongBodies, {}, { alg: "none" }],
  },
  "GET /audit-events": {
    scopes: audit,
    path: () => "/audit-events",
    status: 200,
    wrongQueries: wrongEvents,
  },
  "GET /audit-events/:id": {
    scopes: audit,
    path: async ({ service, a }) => `/audit-events/${await newestEvent(service, a.organisation.id)}`,
    status: 200,
  },
  "GET /audit-events/export": {
    scopes: audit,
    path: () => "/audit-events/export",
    status: 200,
    query: () => "action=audit.&from=2020-01-01T00:00:00Z&text=exported",
    wrongQueries: ["format=xml", "action=nothing", "from=2027", `search=${"x".repeat(201)}`],
  },
  "PUT /images/:kind": {
    scopes: writes,
    path: () => "/images/favicon",
    options: () => ({ body: { content: pngOf(32, 32).toString("base64") } }),
    status: 204,
    wrong: [...wrongBodies, {}, { content: "x" }, { content: pngOf(4, 4).toString("base64") }],
  },
  "DELETE /images/:kind": { scopes: writes, path: () => "/images/favicon", status: 204 },
});
