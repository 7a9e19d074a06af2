/**
 * Demo mode: on an empty database an organisation with people and applications to try, and a second one to see the
 * walls. What it makes is printed and kept in `demo.json`; nothing of it is ever logged.
 */
import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { randomSecret } from "@signet/protocol/hash";
import type { ApplicationSettings } from "../core/applications/application.ts";
import { createApplication } from "../core/applications/applications.ts";
import { createClientSecret } from "../core/applications/client-secrets.ts";
import { issuerOf } from "../core/organisations/organisation.ts";
import { createOrganisation } from "../core/organisations/organisations.ts";
import { listOrganisations } from "../core/organisations/store.ts";
import { createUser } from "../core/users/users.ts";
import type { Role } from "../core/users/user.ts";
import type { Database } from "../db/open.ts";
import type { Service } from "../open-service.ts";
import type { Io } from "./command.ts";

interface Person {
  readonly email: string;
  readonly password: string;
}

interface ServiceApp {
  readonly clientId: string;
  readonly clientSecret: string;
}

/** `demo.json` as tests and examples read it. */
export interface DemoFile {
  readonly baseUrl: string;
  readonly org: string;
  readonly issuer: string;
  readonly admin: Person;
  readonly user: Person;
  readonly webApp: ServiceApp & { readonly redirectUris: readonly string[]; readonly returnUrls: readonly string[] };
  readonly nativeApp: { readonly clientId: string; readonly redirectUris: readonly string[] };
  readonly spaApp: { readonly clientId: string; readonly redirectUris: readonly string[] };
  readonly serviceApp: ServiceApp;
  readonly otherOrg: { readonly org: string; readonly issuer: string; readonly admin: Person; readonly serviceApp: ServiceApp };
}

export interface Demo {
  readonly file: DemoFile;
  readonly path: string;
  /** What the pages may show. */
  readonly shown: {
    readonly organisationIds: readonly string[];
    readonly orgId: string;
    readonly clientId: string;
    readonly credentialsFile: string;
  };
}

const ACTOR = "operator";

/** @returns undefined, after saying why, when the database holds organisations that are not the demo's */
export async function prepareDemo(service: Service, io: Io): Promise<Demo | undefined> {
  const path = join(service.config.dataDir, "demo.json");
  const kept = await readDemoFile(path);
  const organisations = await listOrganisations(service.database.query, { limit: 1_000 });
  const isThere = kept !== undefined && organisations.some(({ id }) => id === kept.org);
  if (!isThere && organisations.length > 0) {
    io.print(`The database has organisations already and ${path} does not belong to them: no demo data was added.`);
    return undefined;
  }
  const { baseUrl } = service.config;
  const file = isThere ? atAddress(kept, baseUrl) : await createDemo(service, path);
  if (isThere && kept.baseUrl !== baseUrl) await writeDemoFile(path, file);
  return {
    file,
    path,
    shown: {
      organisationIds: [file.org, file.otherOrg.org],
      orgId: file.org,
      clientId: file.spaApp.clientId,
      credentialsFile: path,
    },
  };
}

/** All in one transaction, the file last in it: a start that is interrupted leaves nothing half made. */
async function createDemo(service: Service, path: string): Promise<DemoFile> {
  return service.database.transaction(async (tx) => {
    const database: Database = { ...service.database, query: tx, transaction: (work) => work(tx) };
    const inside = { ...service, database };
    const { baseUrl } = service.config;
    const demo = await createOrganisation(inside, tx, { name: "Demo", actor: ACTOR });
    const other = await createOrganisation(inside, tx, { name: "Other", actor: ACTOR });
    const person = (role: Role, organisation: typeof demo, email: string, firstname: string, surname: string) =>
      createPerson(inside, { role, organisation, email, firstname, surname });
    const app = (orgId: string, name: string, clientType: "confidential" | "native" | "spa", settings: Partial<ApplicationSettings>) =>
      createApplication(inside, { orgId, name, clientType, settings, actor: ACTOR });
    const secretOf = async (orgId: string, applicationId: string) =>
      (await createClientSecret(inside, { orgId, applicationId, label: "demo", expiresAt: null, actor: ACTOR })).plaintext;

    const admin = await person("Administrator", demo, "admin@demo.example", "Ada", "Admin");
    const user = await person("Standard", demo, "user@demo.example", "Uma", "User");
    const otherAdmin = await person("Administrator", other, "admin@other.example", "Otto", "Other");
    const web = await app(demo.id, "Demo web app", "confidential", webSettings(baseUrl));
    const native = await app(demo.id, "Demo native app", "native", { redirectUris: ["http://127.0.0.1/callback"] });
    const spa = await app(demo.id, "Demo single-page app", "spa", spaSettings(baseUrl));
    const batch = await app(demo.id, "Demo service", "confidential", serviceSettings);
    const otherBatch = await app(other.id, "Other service", "confidential", serviceSettings);
    const file: DemoFile = {
      baseUrl,
      org: demo.id,
      issuer: issuerOf(baseUrl, demo.id),
      admin,
      user,
      webApp: {
        clientId: web.id,
        clientSecret: await secretOf(demo.id, web.id),
        redirectUris: web.settings.redirectUris,
        returnUrls: web.settings.returnUrls,
      },
      nativeApp: { clientId: native.id, redirectUris: native.settings.redirectUris },
      spaApp: { clientId: spa.id, redirectUris: spa.settings.redirectUris },
      serviceApp: { clientId: batch.id, clientSecret: await secretOf(demo.id, batch.id) },
      otherOrg: {
        org: other.id,
        issuer: issuerOf(baseUrl, other.id),
        admin: otherAdmin,
        serviceApp: { clientId: otherBatch.id, clientSecret: await secretOf(other.id, otherBatch.id) },
      },
    };
    await writeDemoFile(path, file);
    return file;
  });
}

const webSettings = (baseUrl: string): Partial<ApplicationSettings> => ({
  redirectUris: ["http://127.0.0.1:8765/callback", "http://localhost:8765/callback"],
  postLogoutRedirectUris: ["http://127.0.0.1:8765/"],
  returnUrls: ["http://127.0.0.1:8765/"],
  homepageUri: `${baseUrl}/`,
});

const spaSettings = (baseUrl: string): Partial<ApplicationSettings> => ({
  redirectUris: [`${baseUrl}/demo/callback`, "http://127.0.0.1:8766/callback"],
  postLogoutRedirectUris: [`${baseUrl}/`, "http://127.0.0.1:8766/"],
  homepageUri: `${baseUrl}/`,
});

const serviceSettings: Partial<ApplicationSettings> = { grantTypes: ["client_credentials"], allowedScopes: [] };

async function createPerson(
  service: Service,
  person: { role: Role; organisation: Awaited<ReturnType<typeof createOrganisation>>; email: string; firstname: string; surname: string },
): Promise<Person> {
  const password = randomSecret("", 15);
  await createUser(service, { ...person, password, emailVerified: true, actor: ACTOR });
  return { email: person.email, password };
}

function atAddress(file: DemoFile, baseUrl: string): DemoFile {
  const otherOrg = { ...file.otherOrg, issuer: issuerOf(baseUrl, file.otherOrg.org) };
  return { ...file, baseUrl, issuer: issuerOf(baseUrl, file.org), otherOrg };
}

async function readDemoFile(path: string): Promise<DemoFile | undefined> {
  try {
    return JSON.parse(await readFile(path, "utf8")) as DemoFile;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

async function writeDemoFile(path: string, file: DemoFile): Promise<void> {
  const half = `${path}.${process.pid}`;
  await writeFile(half, `${JSON.stringify(file, null, 2)}\n`, { mode: 0o600 });
  await rename(half, path);
}

export function printDemo({ file, path }: Demo, io: Io): void {
  const { baseUrl, issuer, admin, user, serviceApp } = file;
  io.print(`
Signet is ready.

  Try the sign-in    ${baseUrl}/demo/try
  Start page         ${baseUrl}/
  Discovery          ${issuer}/.well-known/openid-configuration

  User               ${user.email}   ${user.password}
  Administrator      ${admin.email}  ${admin.password}

  A first token:

  curl -s ${issuer}/token -d grant_type=client_credentials -d client_id=${serviceApp.clientId} -d client_secret=${serviceApp.clientSecret}

  The same and more, for your programs: ${path}
  Stop with Ctrl+C.
`);
}
