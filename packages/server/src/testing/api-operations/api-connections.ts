/** Connections by API v1. */
import { randomBytes } from "node:crypto";
import { createConnection, createToken } from "../../core/connections/connections.ts";
import { createConnectionTest } from "../../core/connections/sign-in/connection-tests.ts";
import { newSignInConnection } from "../fixtures/sign-in-connection.ts";
import type { ApiWorld } from "./api-operation.ts";
import { apiV1Cases, wrongBodies, wrongLists } from "./api-v1.ts";

const unique = (name: string) => `${name} ${randomBytes(6).toString("hex")}`;

async function newConnection({ service, a }: ApiWorld): Promise<string> {
  const content = { name: unique("Directory"), enabled: true, deletionPolicy: "disable" as const };
  const { id } = await createConnection(service, { orgId: a.organisation.id, actor: "test", content });
  return `/connections/${id}`;
}

const below = (end: string) => async (world: ApiWorld) => `${await newConnection(world)}${end}`;

async function newToken(world: ApiWorld): Promise<string> {
  const path = await newConnection(world);
  const id = path.split("/").at(-1) ?? "";
  const act = { orgId: world.a.organisation.id, actor: "test", id };
  const token = await createToken(world.service, { ...act, label: "", expiresAt: null });
  return `${path}/tokens/${token?.id}`;
}

async function newTest({ service, a }: ApiWorld): Promise<string> {
  const orgId = a.organisation.id;
  const connectionId = await newSignInConnection(service, orgId);
  const { test } = await createConnectionTest(service, { orgId, actor: "test", connectionId });
  return `/connections/${connectionId}/tests/${test.id}`;
}

const reads = ["signet:connections:read"] as const;
const writes = ["signet:connections:write"] as const;
const body = { kind: "scim", name: "Entra ID" };
const oidc = { issuer: "https://idp.example", clientId: "signet", clientSecret: "a secret of theirs" };
const signIn = { kind: "oidc", name: "Okta", oidc };
const byHand = { entityId: "https://idp.example", ssoUrl: "https://idp.example/sso" };
const saml = { kind: "saml", name: "SAML", saml: { ...byHand, certificates: ["none"] } };
const wrongSignIns = [
  saml,
  { ...saml, saml: undefined },
  { ...saml, saml: { metadataXml: "<a/>" } },
  { ...saml, saml: { metadataXml: '<!DOCTYPE a [<!ENTITY b "c">]><a/>' } },
  { ...saml, saml: { metadataUrl: "https://10.0.0.1/" } },
  { ...saml, saml: { ...byHand, certificates: [] } },
  { ...saml, saml: { ...byHand, key: "x" } },
  { ...saml, oidc },
  { ...signIn, saml: byHand },
  { ...signIn, oidc: undefined },
  { ...signIn, scimUrl: "x" },
  { ...signIn, deletionPolicy: "disable" },
  { ...signIn, preset: "github" },
  { ...signIn, kind: "oauth" },
  { ...signIn, kind: "saml" },
  { ...signIn, oidc: { ...oidc, issuer: "ftp://idp.example" } },
  { ...signIn, oidc: { ...oidc, issuer: "https://idp.example?a=b" } },
  { ...signIn, oidc: { ...oidc, clientSecret: null } },
  { ...signIn, oidc: { ...oidc, secret: "x" } },
  { ...signIn, oidc: { ...oidc, scopes: ["a b"] } },
  { ...signIn, mapping: { role: "role" } },
  { ...signIn, mapping: { email: "" } },
  { ...signIn, mapping: { email: { claim: "email" } } },
  { ...signIn, linking: "always" },
  { ...signIn, emailTrust: "all" },
  { ...signIn, assurance: [{ claim: "acr", value: "2", acr: "3" }] },
  { ...body, linking: "ask" },
];

export const apiConnectionCases = apiV1Cases({
  "GET /connections": { scopes: reads, path: () => "/connections", status: 200, wrongQueries: wrongLists },
  "GET /connections/:id": { scopes: reads, path: newConnection, status: 200 },
  "POST /connections": {
    ...{
      scopes: writes,
      path: () => "/connections",
      options: () => ({ body: { ...body, name: unique("Entra ID") } }),
      status: 201,
    },
    wrong: [...wrongBodies, {}, { ...body, name: " " }, { ...body, scimUrl: "x" }, ...wrongSignIns],
  },
  "PATCH /connections/:id": {
    ...{ scopes: writes, path: newConnection, options: () => ({ body: { enabled: false } }), status: 200 },
    wrong: [...wrongBodies, { kind: "scim" }, { name: null }, { deletionPolicy: "keep" }, { shown: false }],
  },
  "DELETE /connections/:id": { scopes: writes, path: newConnection, status: 204, wrong: [{}] },
  "GET /connections/:id/tokens": {
    scopes: reads,
    path: below("/tokens"),
    status: 200,
    wrongQueries: wrongLists,
  },
  "POST /connections/:id/tokens": {
    scopes: [...writes, "signet:users:write", "signet:groups:write"],
    ...{ path: below("/tokens"), options: () => ({ body: { label: "one" } }), status: 201 },
    wrong: [
      ...wrongBodies,
      { expiresAt: "2020-01-01T00:00:00Z" },
      { expiresAt: "soon" },
      { label: "\u0001" },
    ],
  },
  "DELETE /connections/:id/tokens/:tokenId": { scopes: writes, path: newToken, status: 204, wrong: [{}] },
  "GET /connections/:id/sign-ins": {
    scopes: reads,
    path: async ({ service, a }) =>
      `/connections/${await newSignInConnection(service, a.organisation.id)}/sign-ins`,
    status: 200,
    wrongQueries: [...wrongLists, "outcome=other"],
  },
  "POST /connections/:id/test": {
    scopes: writes,
    path: async ({ service, a }) =>
      `/connections/${await newSignInConnection(service, a.organisation.id)}/test`,
    ...{ options: () => ({ body: {} }), status: 201, wrong: [{ claims: {} }] },
  },
  "GET /connections/:id/tests/:testId": { scopes: reads, path: newTest, status: 200 },
  "GET /connections/:id/calls": {
    scopes: reads,
    path: below("/calls"),
    status: 200,
    wrongQueries: wrongLists,
  },
});
