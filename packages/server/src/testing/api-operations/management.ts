/** The management API: every operation has the same five cases, made from what it is called with. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { type ApiAnswer, callApi, type TestAccount } from "../fixtures/system-account.ts";
import { authorityPem } from "./api-client-authorities.ts";
import type { ApiCase, ApiCases, ApiWorld } from "./api-operation.ts";

export interface Asked {
  /** Below the management API. */
  readonly path: string;
  readonly body?: unknown;
}

interface Row {
  /** What organisation A's administrator asks, with what that needs made for it. */
  readonly asked: (world: ApiWorld) => Promise<Asked>;
  readonly status: number;
  /** How it looks to organisation B's administrator, who asks the same. */
  readonly foreign?: (answer: ApiAnswer, asked: Asked, world: ApiWorld) => void;
  readonly notForeign?: string;
  /** Bodies or, for a GET, paths that are refused with 422. */
  readonly wrong: readonly unknown[];
  /** Its signature must be of the strict form, as for every DELETE. */
  readonly strictOnly?: true;
}

const BASE = "/legacy/api/oauth";
const unknownIs404 = (answer: ApiAnswer) => assert.equal(answer.status, 404);
/** B's own list: A's clients, scopes and consents are in none of its items. */
export const ownListOnly = (answer: ApiAnswer, _asked: Asked, world: ApiWorld) => {
  assert.equal(answer.status, 200);
  assert.ok(Array.isArray(answer.body["items"]));
  for (const mine of [world.a.web.application.id, world.a.user.id, "Made"])
    assert.ok(!answer.text.includes(mine), mine);
};

export function caseOf(method: string, row: Row): ApiCase {
  const { asked, status, foreign, notForeign, wrong, strictOnly = method === "DELETE" } = row;
  const call = (world: ApiWorld, by: TestAccount | undefined, { path, body }: Asked) =>
    callApi(`${world.baseUrl}${BASE}${path}`, by, {
      method,
      ...(body === undefined ? {} : { body }),
      ...(strictOnly ? { strictAt: world.clock() } : {}),
    });
  return {
    happy: async (world) => {
      const answer = await call(world, world.administratorOfA, await asked(world));
      assert.equal(answer.status, status, answer.text);
    },
    unauthenticated: async (world) => {
      const known = await asked(world);
      assert.equal((await call(world, undefined, known)).status, 401);
      const stranger = { ...world.administratorOfA, secret: "sgn_sa_x" };
      assert.equal((await call(world, stranger, known)).status, 401);
    },
    foreign: notForeign
      ? { none: notForeign }
      : async (world) => {
          const known = await asked(world);
          const answer = await call(world, world.administratorOfB, known);
          (foreign ?? unknownIs404)(answer, known, world);
        },
    forbidden: async (world) => {
      const known = await asked(world);
      assert.equal((await call(world, world.plainOfA, known)).status, 401);
      if (!strictOnly) return;
      const { path, ...body } = known;
      const sent = { method, ...body };
      const plainForm = await callApi(`${world.baseUrl}${BASE}${path}`, world.administratorOfA, sent);
      assert.equal(plainForm.status, 401, "the form that can be sent again");
    },
    malformed: async (world) => {
      const known = await asked(world);
      if (method !== "GET")
        assert.equal((await call(world, world.administratorOfA, { ...known, body: "{" })).status, 400);
      for (const one of wrong) {
        const sent = method === "GET" ? { path: String(one) } : { ...known, body: one };
        const answer = await call(world, world.administratorOfA, sent);
        assert.equal(answer.status, 422, `${JSON.stringify(one)}: ${answer.text}`);
        assert.ok((answer.body["errors"] as unknown[]).length > 0);
      }
    },
  };
}

export async function made(world: ApiWorld, path: string, body: unknown): Promise<string> {
  const answer = await callApi(`${world.baseUrl}${BASE}${path}`, world.administratorOfA, { body });
  assert.ok(answer.status === 201 || answer.status === 200, answer.text);
  return String(answer.body["id"] ?? answer.body["clientId"]);
}

const client = (more: object = {}) => ({ name: "Made", clientType: "confidential", ...more });
const authority = () => ({ name: "Made", certificate: authorityPem() });
const newAuthority = async (world: ApiWorld) =>
  `/client-certificate-authorities/${await made(world, "/client-certificate-authorities", authority())}`;
const scope = () => ({ name: `s-${randomUUID()}`, displayName: "Made" });
const resource = () => ({ identifier: `https://${randomUUID()}.example/api`, name: "Made" });
export const newClient = (world: ApiWorld) => made(world, "/clients", client());
const grantOf = async (world: ApiWorld) => ({ clientId: await newClient(world), scopes: ["openid"] });
export const noBodyExpected = [{}, []];
const strictOnly = true;

export const managementCases: ApiCases = {
  "GET /legacy/api/oauth/clients": caseOf("GET", {
    asked: async () => ({ path: "/clients?limit=200" }),
    status: 200,
    foreign: ownListOnly,
    wrong: ["/clients?limit=0", "/clients?limit=201", "/clients?cursor=x", "/clients?nothing=1"],
  }),
  "GET /legacy/api/oauth/clients/:clientId": caseOf("GET", {
    asked: async (world) => ({ path: `/clients/${await newClient(world)}` }),
    status: 200,
    wrong: [],
  }),
  "POST /legacy/api/oauth/clients": caseOf("POST", {
    asked: async () => ({ path: "/clients", body: client() }),
    status: 201,
    notForeign: "what is made belongs to the caller's own organisation",
    wrong: [{}, [], "null", { name: "x" }, client({ clientType: "other" }), client({ orgId: randomUUID() })],
  }),
  "PUT /legacy/api/oauth/clients/:clientId": caseOf("PUT", {
    asked: async (world) => ({
      path: `/clients/${await newClient(world)}`,
      body: client({ description: "Changed" }),
    }),
    status: 200,
    wrong: [{}, client({ version: 7 }), client({ redirectUris: ["javascript:0"] }), client({ bogus: null })],
  }),
  "DELETE /legacy/api/oauth/clients/:clientId": caseOf("DELETE", {
    asked: async (world) => ({ path: `/clients/${await newClient(world)}` }),
    status: 204,
    wrong: noBodyExpected,
  }),
  "GET /legacy/api/oauth/clients/:clientId/users": caseOf("GET", {
    asked: async (world) => ({ path: `/clients/${world.a.web.application.id}/users` }),
    status: 200,
    wrong: [`/clients/${randomUUID()}/users?limit=0`],
  }),
  "PUT /legacy/api/oauth/clients/:clientId/users/:permId": caseOf("PUT", {
    asked: async (world) => ({ path: `/clients/${await newClient(world)}/users/${world.a.user.id}` }),
    status: 204,
    wrong: noBodyExpected,
    strictOnly,
  }),
  "DELETE /legacy/api/oauth/clients/:clientId/users/:permId": caseOf("DELETE", {
    asked: async (world) => {
      const path = `/clients/${await newClient(world)}/users/${world.a.user.id}`;
      const assignment = { method: "PUT", strictAt: world.clock() };
      await callApi(`${world.baseUrl}${BASE}${path}`, world.administratorOfA, assignment);
      return { path };
    },
    status: 204,
    wrong: noBodyExpected,
  }),
  "POST /legacy/api/oauth/clients/:clientId/rotate-secret": caseOf("POST", {
    asked: async (world) => ({ path: `/clients/${await newClient(world)}/rotate-secret`, body: {} }),
    status: 201,
    wrong: [{ secret: "mine" }, { expiresAt: "tomorrow" }, { expireOthersInSeconds: -1 }, { label: 1 }],
    strictOnly,
  }),
  "POST /legacy/api/oauth/clients/:clientId/revoke-old-secret": caseOf("POST", {
    asked: async (world) => ({ path: `/clients/${await newClient(world)}/revoke-old-secret`, body: {} }),
    status: 204,
    wrong: [{ secretId: "x" }, { all: true }],
    strictOnly,
  }),
  "GET /legacy/api/oauth/scopes": caseOf("GET", {
    asked: async () => ({ path: "/scopes" }),
    status: 200,
    foreign: ownListOnly,
    wrong: ["/scopes?limit=x", "/scopes?cursor=x"],
  }),
  "GET /legacy/api/oauth/scopes/:id": caseOf("GET", {
    asked: async (world) => ({ path: `/scopes/${await made(world, "/scopes", scope())}` }),
    status: 200,
    wrong: [],
  }),
  "POST /legacy/api/oauth/scopes": caseOf("POST", {
    asked: async () => ({ path: "/scopes", body: scope() }),
    status: 201,
    notForeign: "what is made belongs to the caller's own organisation",
    wrong: [
      {},
      { name: "openid" },
      { ...scope(), id: randomUUID() },
      { ...scope(), claims: [{ name: "sub" }] },
    ],
  }),
  "PUT /legacy/api/oauth/scopes/:id": caseOf("PUT", {
    asked: async (world) => ({ path: `/scopes/${await made(world, "/scopes", scope())}`, body: {} }),
    status: 200,
    wrong: [{ name: "another" }, { orgId: "x" }, { displayName: 1 }],
  }),
  "DELETE /legacy/api/oauth/scopes/:id": caseOf("DELETE", {
    asked: async (world) => ({ path: `/scopes/${await made(world, "/scopes", scope())}` }),
    status: 204,
    wrong: noBodyExpected,
  }),
  "GET /legacy/api/oauth/resources": caseOf("GET", {
    asked: async () => ({ path: "/resources" }),
    status: 200,
    foreign: ownListOnly,
    wrong: ["/resources?limit=x", "/resources?cursor=x"],
  }),
  "GET /legacy/api/oauth/resources/:id": caseOf("GET", {
    asked: async (world) => ({ path: `/resources/${await made(world, "/resources", resource())}` }),
    status: 200,
    wrong: [],
  }),
  "POST /legacy/api/oauth/resources": caseOf("POST", {
    asked: async () => ({ path: "/resources", body: { ...resource(), scopes: [scope()] } }),
    status: 201,
    notForeign: "what is made belongs to the caller's own organisation",
    wrong: [
      ...[{}, { identifier: "x", name: "Made" }, { ...resource(), identifier: "https://x.example/#x" }],
      ...[
        { ...resource(), scopes: ["undefined-scope"] },
        { ...resource(), senderConstraint: "tls" },
      ],
      ...[
        { ...resource(), AccessTokenLifetimeSeconds: 59 },
        { ...resource(), applicationId: randomUUID() },
      ],
    ],
  }),
  "PUT /legacy/api/oauth/resources/:id": caseOf("PUT", {
    asked: async (world) => ({
      path: `/resources/${await made(world, "/resources", resource())}`,
      body: { ...resource(), accessTokenFormat: "opaque" },
    }),
    status: 200,
    wrong: [{}, { ...resource(), accessTokenFormat: "saml" }, { ...resource(), bogus: 1 }],
  }),
  "DELETE /legacy/api/oauth/resources/:id": caseOf("DELETE", {
    asked: async (world) => ({ path: `/resources/${await made(world, "/resources", resource())}` }),
    status: 204,
    wrong: noBodyExpected,
  }),
  "GET /legacy/api/oauth/client-certificate-authorities": caseOf("GET", {
    asked: async () => ({ path: "/client-certificate-authorities" }),
    status: 200,
    foreign: ownListOnly,
    wrong: ["/client-certificate-authorities?limit=x", "/client-certificate-authorities?cursor=x"],
  }),
  "GET /legacy/api/oauth/client-certificate-authorities/:id": caseOf("GET", {
    asked: async (world) => ({ path: await newAuthority(world) }),
    status: 200,
    wrong: [],
  }),
  "POST /legacy/api/oauth/client-certificate-authorities": caseOf("POST", {
    asked: async () => ({ path: "/client-certificate-authorities", body: authority() }),
    status: 201,
    notForeign: "what is made belongs to the caller's own organisation",
    wrong: [{}, { name: "Made" }, { ...authority(), certificate: "x" }, { ...authority(), id: randomUUID() }],
  }),
  "PUT /legacy/api/oauth/client-certificate-authorities/:id": caseOf("PUT", {
    asked: async (world) => ({ path: await newAuthority(world), body: authority() }),
    status: 200,
    wrong: [{}, { name: "Made" }, { ...authority(), orgId: "x" }, { ...authority(), enabled: "yes" }],
  }),
  "DELETE /legacy/api/oauth/client-certificate-authorities/:id": caseOf("DELETE", {
    asked: async (world) => ({ path: await newAuthority(world) }),
    status: 204,
    wrong: noBodyExpected,
  }),
  "GET /legacy/api/oauth/client-id-metadata-policy": caseOf("GET", {
    asked: async () => ({ path: "/client-id-metadata-policy" }),
    status: 200,
    notForeign: "an organisation has one policy: the caller's own",
    wrong: [],
  }),
  "PUT /legacy/api/oauth/client-id-metadata-policy": caseOf("PUT", {
    asked: async () => ({ path: "/client-id-metadata-policy", body: { hosts: ["agent.example:8443"] } }),
    status: 200,
    notForeign: "an organisation has one policy: the caller's own",
    wrong: [
      ...[{ mode: "some" }, { hosts: ["https://x.example"] }, { hosts: ["*.example"] }, { bogus: 1 }],
      ...[{ allowedScopes: ["undefined-scope"] }, { allowedScopes: ["signet:users:read"] }],
      ...[{ allowedResources: ["x"] }, { senderConstraint: "mtls" }],
    ],
  }),
  "GET /legacy/api/oauth/consents": caseOf("GET", {
    asked: async () => ({ path: "/consents" }),
    status: 200,
    foreign: ownListOnly,
    wrong: ["/consents?kind=other", "/consents?clientId=x", "/consents?user=x"],
  }),
  "GET /legacy/api/oauth/consents/:id": caseOf("GET", {
    asked: async (world) => ({
      path: `/consents/${await made(world, "/consents/organisation", await grantOf(world))}`,
    }),
    status: 200,
    wrong: [],
  }),
  "POST /legacy/api/oauth/consents/organisation": caseOf("POST", {
    asked: async (world) => ({ path: "/consents/organisation", body: await grantOf(world) }),
    status: 201,
    wrong: [{}, { clientId: "x", scopes: ["openid"] }, { clientId: randomUUID() }],
  }),
  "POST /legacy/api/oauth/consents/user": caseOf("POST", {
    asked: async (world) => ({
      path: "/consents/user",
      body: { ...(await grantOf(world)), userId: world.a.user.id },
    }),
    status: 201,
    wrong: [{}, { clientId: randomUUID(), scopes: ["openid"] }],
  }),
  "DELETE /legacy/api/oauth/consents/:id": caseOf("DELETE", {
    asked: async (world) => ({
      path: `/consents/${await made(world, "/consents/organisation", await grantOf(world))}`,
    }),
    status: 204,
    wrong: noBodyExpected,
  }),
  "GET /legacy/api/oauth/preauthorizations": caseOf("GET", {
    asked: async () => ({ path: "/preauthorizations" }),
    status: 200,
    foreign: ownListOnly,
    wrong: ["/preauthorizations?clientId=x", "/preauthorizations?kind=user"],
  }),
  "GET /legacy/api/oauth/preauthorizations/:id": caseOf("GET", {
    asked: async (world) => ({
      path: `/preauthorizations/${await made(world, "/preauthorizations", await grantOf(world))}`,
    }),
    status: 200,
    wrong: [],
  }),
  "POST /legacy/api/oauth/preauthorizations": caseOf("POST", {
    asked: async (world) => ({ path: "/preauthorizations", body: await grantOf(world) }),
    status: 201,
    wrong: [{}, { clientId: "x", scopes: ["openid"] }, { clientId: randomUUID(), scopes: [1] }],
  }),
  "DELETE /legacy/api/oauth/preauthorizations/:id": caseOf("DELETE", {
    asked: async (world) => ({
      path: `/preauthorizations/${await made(world, "/preauthorizations", await grantOf(world))}`,
    }),
    status: 204,
    wrong: noBodyExpected,
  }),
};
