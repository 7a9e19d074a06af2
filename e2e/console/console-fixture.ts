/** A lively organisation for the pages of the console and of an account: in-process, on either database, with records of every kind. */
import { mkdtemp, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import type { Page } from "playwright-core";
import { addActivity } from "../../packages/server/src/core/activity/activity.store.ts";
import { assignGroup } from "../../packages/server/src/core/application-access/application-access.ts";
import { listApplications } from "../../packages/server/src/core/applications/applications.store.ts";
import { createApplication } from "../../packages/server/src/core/applications/applications.ts";
import { createClientSecret } from "../../packages/server/src/core/applications/client-secrets.ts";
import { insertBreakGlassAccount } from "../../packages/server/src/core/break-glass/break-glass.store.ts";
import { listTokens } from "../../packages/server/src/core/connections/connections.store.ts";
import { createConnectionTest } from "../../packages/server/src/core/connections/sign-in/connection-tests.ts";
import { recordConnectionSignIn } from "../../packages/server/src/core/connections/sign-in/sign-in-log.store.ts";
import {
  createPreauthorization,
  grantOrganisationConsent,
} from "../../packages/server/src/core/consents/consents.ts";
import { createDomain } from "../../packages/server/src/core/domains/domains.ts";
import type { Organisation } from "../../packages/server/src/core/organisations/organisation.ts";
import { createOrganisation } from "../../packages/server/src/core/organisations/organisations.ts";
import { createCustomScope } from "../../packages/server/src/core/scopes/custom-scopes.ts";
import { listAllPools } from "../../packages/server/src/core/signing-pools/signing-pool.store.ts";
import { changeProfile } from "../../packages/server/src/core/users/profile/profile.ts";
import { createUser } from "../../packages/server/src/core/users/users.ts";
import { listUsableCodes } from "../../packages/server/src/features/device-identity/enrol/enrolment-code.store.ts";
import type { Service } from "../../packages/server/src/modules/open-service.ts";
import { freshPostgres } from "../../packages/server/src/testing/databases.ts";
import { MAIL_ENV } from "../../packages/server/src/testing/fakes/mailbox.ts";
import { addDependentRecords } from "../../packages/server/src/testing/fakes/pending-records.ts";
import { makeAgent, makePool } from "../../packages/server/src/testing/fixtures/agent.ts";
import { groupRef, makeDirectory } from "../../packages/server/src/testing/fixtures/directory.ts";
import { enrolledByCode, newCode } from "../../packages/server/src/testing/fixtures/enrolments.ts";
import { newLedgerWitness } from "../../packages/server/src/testing/fixtures/ledger-witness.ts";
import { sharedApplications } from "../../packages/server/src/testing/fixtures/planted-records.ts";
import { newScimConnection } from "../../packages/server/src/testing/fixtures/scim-connection.ts";
import { newSignInConnection } from "../../packages/server/src/testing/fixtures/sign-in-connection.ts";
import { newWebhookWithDeliveries } from "../../packages/server/src/testing/fixtures/webhook.ts";
import { type ListedRoute, listRoutes } from "../../packages/server/src/testing/list-routes.ts";
import { recordAddress } from "../../packages/server/src/testing/probes/record-address.ts";
import {
  PASSWORD,
  startTestService,
  type TestService,
  type TestServiceOptions,
} from "../../packages/server/src/testing/test-service.ts";
import { type Person, signIn } from "../journeys/sign-in-steps.ts";
import { furnishProtected } from "./protected-fixture.ts";

export interface ConsoleFixture {
  readonly running: TestService;
  readonly baseUrl: string;
  readonly orgId: string;
  readonly admin: Person & { id: string };
  readonly user: Person & { id: string };
  /** As `recordAddress` takes them. */
  readonly ids: Readonly<Record<string, string>>;
  readonly routes: readonly ListedRoute[];
  /** Every page that a GET shows: its address, and a name for it. */
  readonly pages: ReadonlyArray<{ name: string; url: string; isConsole: boolean }>;
  close(): Promise<void>;
}

const actor = "operator";

export interface FixtureOptions extends Pick<TestServiceOptions, "clock" | "env"> {
  readonly database?: "sqlite" | "postgres";
}

export async function consoleFixture({
  database = "sqlite",
  ...options
}: FixtureOptions = {}): Promise<ConsoleFixture> {
  const { url: databaseUrl, remove } = await (database === "sqlite" ? freshSqlite() : freshPostgres());
  // By name: browsers make no passkeys for an address of numbers.
  const baseUrl = (port: number) => `http://localhost:${port}`;
  const running = await startTestService({
    databaseUrl,
    baseUrl,
    ...options,
    env: { ...MAIL_ENV, ...options.env },
  });
  const close = async () => {
    await running.close();
    await remove();
  };
  try {
    return { ...(await makeFixture(running)), close };
  } catch (error) {
    // Else it would go on, and the test with it.
    await close();
    throw error;
  }
}

async function freshSqlite() {
  const folder = await mkdtemp(path.join(os.tmpdir(), "signet-console-"));
  const remove = () => rm(folder, { recursive: true, force: true });
  return { url: `sqlite:${path.join(folder, "signet.db")}`, remove };
}

async function makeFixture(running: TestService): Promise<Omit<ConsoleFixture, "close">> {
  const { service } = running;
  const organisation = await createOrganisation(service, service.database.query, {
    name: "Northwind Cooperative",
    actor,
  });
  const orgId = organisation.id;
  await createOrganisation(service, service.database.query, { name: "Harbour Clinic", actor });
  const { adminId, userId } = await makePeople(service, organisation);
  const records = await furnish(service, orgId);
  const glass = { orgId, userId: adminId, createdAt: service.clock(), createdBy: "operator" };
  await insertBreakGlassAccount(service.database.query, glass);
  const hanging = { organisation, applicationId: records["applications"] ?? "", userId };
  const ids = {
    ...records,
    ...(await addDependentRecords(service, hanging)),
    users: userId,
    "break-glass": adminId,
  };
  await writeActivity(service, orgId);
  const routes = await listRoutes();
  return {
    running,
    baseUrl: service.config.baseUrl,
    orgId,
    admin: { id: adminId, email: "ada@northwind.example", password: PASSWORD },
    user: { id: userId, email: "grace@northwind.example", password: PASSWORD },
    ids,
    routes,
    pages: pagesOf(service.config.baseUrl, orgId, ids, routes),
  };
}

/** With optional details, which the others leave out. */
const graceProfile = {
  ...{ firstname: "Grace", surname: "Okafor", phone: "+44 20 7946 0018", locale: "en" },
  details: {
    nickname: "Gracie",
    birthdate: "1988-11-04",
    zoneinfo: "Europe/London",
    website: "https://grace.example/",
    streetAddress: "12 Quay Street\nFlat 3",
    postalCode: "BS1 4DB",
    locality: "Bristol",
    country: "United Kingdom",
  },
};

async function makePeople(service: Service, organisation: Organisation) {
  const person = (firstname: string, surname: string, role: "Standard" | "Administrator" = "Standard") =>
    createUser(service, {
      organisation,
      email: `${firstname.toLowerCase()}@northwind.example`,
      password: PASSWORD,
      firstname,
      surname,
      role,
      emailVerified: true,
      actor,
    });
  const adminId = await person("Ada", "Lindqvist", "Administrator");
  const userId = await person("Grace", "Okafor");
  await changeProfile(service, { orgId: organisation.id, id: userId, profile: graceProfile, actor });
  await person("Marta", "Silva");
  await person("Jonas", "Weber");
  await person("Aiko", "Tanaka");
  await person("Luc", "Moreau");
  return { adminId, userId };
}

async function furnish(service: Service, orgId: string): Promise<Record<string, string>> {
  const make = (name: string, clientType: "confidential" | "spa", homepageUri: string) =>
    createApplication(service, {
      orgId,
      name,
      clientType,
      settings: {
        homepageUri,
        redirectUris: [`${homepageUri}/callback`],
        description: `${name} of the house`,
      },
      actor,
    });
  const payroll = await make("Payroll", "confidential", "https://payroll.northwind.example");
  await make("Staff directory", "spa", "https://people.northwind.example");
  await make("Warehouse", "confidential", "https://warehouse.northwind.example");
  const secret = { orgId, applicationId: payroll.id, label: "first", expiresAt: null, actor };
  await createClientSecret(service, secret);
  const scope = await createCustomScope(service, {
    orgId,
    name: "payslips",
    displayName: "Your payslips",
    description: "Read the payslips of the last three years",
    claims: [{ name: "department", source: "user", path: "attributes.department" }],
    sensitive: true,
    actor,
  });
  const protectedRecords = await furnishProtected(service, orgId, payroll.id);
  const directory = await furnishDirectory(service, orgId, payroll.id);
  const connections = await furnishConnections(service, orgId);
  const scopes = ["openid", "profile"];
  const consent = await grantOrganisationConsent(service, { application: payroll, scopes, actor });
  const preauthorized = await createPreauthorization(service, {
    application: payroll,
    scopes: ["openid"],
    actor,
  });
  return {
    applications: payroll.id,
    quickstart: payroll.id,
    scopes: scope.id,
    ...protectedRecords,
    ...directory,
    ...connections,
    consents: consent,
    preauthorizations: preauthorized.id,
    ...(await sharedApplications(service, orgId, "Northwind")),
    ...(await makeKeyHolders(service, orgId)),
  };
}

/** Groups, one inside the other, and roles, one of which the outer group has. */
async function furnishDirectory(service: Service, orgId: string, applicationId: string) {
  const directory = await makeDirectory(service, orgId);
  const inner = await directory.group("Night shift");
  const group = await directory.group("Bakery", [groupRef(inner)]);
  await assignGroup(service, { orgId, actor, applicationId, groupId: group });
  const role = await directory.role(applicationId, "payslips.reader", ["payslips:read", "payslips:list"]);
  const { id: assignment } = await directory.assign(role, "group", group);
  await directory.role(applicationId, "payslips.approver", ["payslips:approve"]);
  await directory.role(null, "first-aider");
  return { groups: group, member: inner, group, roles: role, assignment };
}

/** A directory that has called, and a provider that a user could not sign in with. */
async function furnishConnections(service: Service, orgId: string): Promise<Record<string, string>> {
  const scim = await newScimConnection(service, orgId);
  const noa = { userName: "noa@northwind.example", emails: [{ value: "noa@northwind.example" }] };
  await scim.call("POST", "/Users", noa);
  await scim.call("POST", "/Users", noa);
  await scim.call("POST", "/Groups", { displayName: "Drivers" });
  const [token] = await listTokens(service.database.query, scim.connection);
  const provider = await newSignInConnection(service, orgId);
  await recordConnectionSignIn(service.database.query, {
    ...{ orgId, connectionId: provider, at: service.clock(), outcome: "failed" },
    ...{ reason: "audience-mismatch", detail: "aud is another-client", subject: "248289761001" },
    ...{ email: "noa@northwind.example", reference: "7f3a-21" },
  });
  const route = { connectionId: provider, enforced: false };
  const domain = await createDomain(service, { orgId, actor, domain: "northwind.example", route });
  const { test } = await createConnectionTest(service, { orgId, actor: "test", connectionId: provider });
  const pages = ["sign-ins", "test", "groups", "tests"].map((page) => [`connections/${page}`, provider]);
  return {
    ...Object.fromEntries(pages),
    ...{ connections: scim.connection.id, test: test.id, token: token?.id ?? "" },
    domains: domain.id,
    ...(await newWebhookWithDeliveries(service, orgId, "hooks.northwind.example")),
    witnesses: (await newLedgerWitness(service, orgId, "witness.northwind.example")).id,
  };
}

async function makeKeyHolders(service: Service, orgId: string): Promise<Record<string, string>> {
  const organisation = { organisation: { id: orgId } } as Parameters<typeof makePool>[1];
  const pool = await makePool(service, organisation, { name: "Head office" });
  const agent = await makeAgent(service, organisation, pool);
  const issuer = `${service.config.baseUrl}/oauth/${orgId}`;
  const device = await enrolledByCode(service, issuer, { name: "Till 3, main street" });
  await enrolledByCode(service, issuer, { name: "Loading dock scanner" });
  await newCode(service, orgId, { name: "Till 4, main street" });
  const now = service.clock();
  const [code] = await listUsableCodes(service.database.query, orgId, { now, limit: 1 });
  const kid = agent.keys[0]?.kid ?? "";
  return { pool: pool.id, agent: agent.agentId, kid, manage: device.deviceId, codes: code?.id ?? "" };
}

/** A month of it, busier by day and in the week. */
async function writeActivity(service: Service, orgId: string): Promise<void> {
  const hourMs = 3_600_000;
  const now = service.clock() - (service.clock() % hourMs);
  const [pool] = await listAllPools(service.database.query, orgId);
  const apps = await listApplications(service.database.query, orgId, { limit: 3 });
  const rows = Array.from({ length: 30 * 24 }, (_, age) => {
    const hour = now - age * hourMs;
    const date = new Date(hour);
    const isWeekend = date.getUTCDay() % 6 === 0;
    const load = Math.max(0, Math.sin(((date.getUTCHours() - 5) / 24) * Math.PI * 2)) * (isWeekend ? 12 : 60);
    const wave = 0.7 + 0.3 * Math.sin(age * 1.7);
    const of = (kind: string, share: number) => ({
      orgId,
      kind,
      hour,
      total: Math.round(load * wave * share),
    });
    return [
      ...[of("sign-ins", 1), of("failed-sign-ins", 0.06), of("tokens", 6), of("refused-tokens", 0.1)],
      ...[
        of("sign-ins/password", 0.35),
        of("sign-ins/password-and-factor", 0.25),
        of("sign-ins/passkey", 0.4),
      ],
      ...apps.map(({ id }, index) => of(`tokens/${id}`, [3.5, 1.4, 0.6][index] ?? 0)),
      ...(pool ? [of(`pool-signatures/${pool.id}`, 2), of(`failed-pool-signatures/${pool.id}`, 0.05)] : []),
      ...(pool ? [of(`pool-agents/${pool.id}`, 0.05), of(`pool-queue/${pool.id}`, 0.2)] : []),
    ].filter(({ total }) => total > 0);
  }).flat();
  for (let at = 0; at < rows.length; at += 500)
    await addActivity(service.database.query, rows.slice(at, at + 500));
}

/** The console, the devices and the account: every GET that is registered. */
function pagesOf(
  baseUrl: string,
  orgId: string,
  ids: Readonly<Record<string, string>>,
  routes: readonly ListedRoute[],
): ConsoleFixture["pages"] {
  const isOurs = (path: string) =>
    /^\/oauth\/manage\/:org|^\/devices\/manage\/:org|^\/oauth\/:org\/account\b|^\/oauth\/:org\/user\/consents$/.test(
      path,
    );
  return (
    routes
      // An administrator has no visit by a portal link.
      .filter(({ method, path }) => method === "GET" && isOurs(path) && !path.endsWith("/portal"))
      .flatMap(({ path }) => {
        const address = recordAddress(path, orgId, ids);
        if (address === undefined) return [];
        const name = path
          .replace(/^\/oauth\/manage\/:org/, "console")
          .replace(/^\/oauth\/:org\//, "")
          .replace(/^\/devices\/manage\/:org/, "console/devices")
          .replaceAll(/\/:(\w+)/g, "-$1")
          .replaceAll("/", "-");
        return [{ name, url: baseUrl + address, isConsole: path.includes("manage") }];
      })
  );
}

export async function signInAt(page: Page, url: string, person: Person): Promise<void> {
  await page.goto(url);
  await signIn(page, person);
  await page.locator("#content").waitFor();
}
