/** Demo data for the programs in `examples/`: their applications, the scopes of an API, and a signing pool. */
import type { ApplicationSettings } from "../../core/applications/application.ts";
import { createCustomScope } from "../../core/scopes/custom-scopes.ts";
import { listCustomScopes } from "../../core/scopes/scopes.store.ts";
import { createPool } from "../../features/sovereign/admin-api/pools.ts";
import type { Service } from "../../modules/open-service.ts";
import { OPERATOR } from "../with-service.ts";
import { createApp, createSecretApp, createServiceApp } from "./demo-applications.ts";
import type { DemoExamples, DemoFile } from "./demo-file.ts";

/** Audience of access tokens for the notes API (RFC 9068 §2.2). */
const NOTES = "https://notes.demo.example";
const READ = "notes:read";
const WRITE = "notes:write";

/** Of a demo that an earlier version has made. */
type EarlierExamples = Omit<DemoExamples, "saas"> & Partial<Pick<DemoExamples, "saas">>;

export type DemoWithoutExamples = Omit<DemoFile, "examples"> & { readonly examples?: EarlierExamples };

/** Adds the example data that a demo of an earlier version lacks. */
export async function withExamples(service: Service, file: DemoWithoutExamples): Promise<DemoFile> {
  const examples: EarlierExamples = file.examples ?? (await createExamples(service, file.org));
  const saas = examples.saas ?? (await createSaas(service, file.org, "http://127.0.0.1:8775"));
  return { ...file, examples: { ...examples, saas } };
}

async function createExamples(service: Service, org: string): Promise<EarlierExamples> {
  await createScopes(service, org);
  return {
    webApp: await createWebApp(service, org, "http://127.0.0.1:8771"),
    legacyApp: await createLegacyApp(service, org, "http://127.0.0.1:8772"),
    notesApp: await createNotesApp(service, org, "http://127.0.0.1:8773"),
    worker: await createServiceApp(service, org, "Example worker", notes([READ])),
    sovereign: await createSovereign(service, org, "http://127.0.0.1:8774"),
  };
}

const notes = (scopes: readonly string[]): Partial<ApplicationSettings> => ({
  allowedScopes: scopes,
  audience: NOTES,
});

/** Scopes of these names may already exist in a demo that was edited. */
async function createScopes(service: Service, orgId: string): Promise<void> {
  const there = await listCustomScopes(service.database.query, orgId);
  for (const [name, displayName, description] of [
    [READ, "Read your notes", "See the notes that you have written."],
    [WRITE, "Write notes", "Add notes in your name."],
  ] as const) {
    if (there.some((scope) => scope.name === name)) continue;
    const scope = { orgId, name, displayName, description, claims: [], sensitive: false, actor: OPERATOR };
    await createCustomScope(service, scope);
  }
}

/** Short-lived access tokens, so that the example shows a refresh soon. */
const SHORT_LIFETIME_SECONDS = 120;

async function createWebApp(service: Service, org: string, address: string): Promise<DemoExamples["webApp"]> {
  const app = await createSecretApp(service, org, "Example web app", {
    redirectUris: [`${address}/signet/callback`],
    postLogoutRedirectUris: [`${address}/`],
    backchannelLogoutUri: `${address}/signet/back-channel-logout`,
    homepageUri: `${address}/`,
    accessTokenLifetimeSeconds: SHORT_LIFETIME_SECONDS,
  });
  return { ...app, address };
}

async function createLegacyApp(
  service: Service,
  org: string,
  address: string,
): Promise<DemoExamples["legacyApp"]> {
  const { clientId } = await createSecretApp(service, org, "Example legacy web app", {
    returnUrls: [`${address}/`],
    homepageUri: `${address}/`,
  });
  return { clientId, address };
}

async function createNotesApp(
  service: Service,
  org: string,
  address: string,
): Promise<DemoExamples["notesApp"]> {
  const { id } = await createApp(service, org, "Example notes", "spa", {
    ...notes(["openid", "profile", "email", "offline_access", READ, WRITE]),
    redirectUris: [`${address}/`],
    postLogoutRedirectUris: [`${address}/`],
    homepageUri: `${address}/`,
    accessTokenLifetimeSeconds: SHORT_LIFETIME_SECONDS,
  });
  return { clientId: id, address, audience: NOTES };
}

/** What it asks each tenant's administrator for: its people and its connections, besides signing people in. */
const TENANT_SCOPES = ["organisation:write", "audit:read", "users:write", "connections:write"];

async function createSaas(service: Service, org: string, address: string): Promise<DemoExamples["saas"]> {
  const app = await createSecretApp(service, org, "Example SaaS", {
    grantTypes: ["authorization_code", "refresh_token", "client_credentials"],
    allowedScopes: [
      ...["openid", "profile", "email", "roles", "offline_access"],
      ...TENANT_SCOPES.map((name) => `signet:${name}`),
    ],
    redirectUris: [`${address}/signet/callback`],
    postLogoutRedirectUris: [`${address}/`],
    homepageUri: `${address}/`,
    shared: { organisations: "any" },
  });
  return { ...app, address };
}

/** The pool starts without an agent: the example enrols one with its own key. */
async function createSovereign(
  service: Service,
  orgId: string,
  address: string,
): Promise<DemoExamples["sovereign"]> {
  const pool = await createPool(
    { ...service, baseUrl: service.config.baseUrl },
    { orgId, actor: OPERATOR },
    // No delay: a developer who deletes the example's folder enrols a new key and continues immediately.
    { name: "Example pool", algs: ["ES256"], maxTokenLifetimeSeconds: 3600, keyPublishDelaySeconds: 0 },
  );
  const settings = { ...notes([READ]), signingPoolId: pool.id };
  const app = await createServiceApp(service, orgId, "Example sovereign worker", settings);
  return { ...app, poolId: pool.id, address };
}
