/**
 * Demo mode: creates an organisation with users and applications in an empty database, and a second one to show
 * tenant isolation. Credentials are printed and written to `demo.json`, never logged.
 */
import { join } from "node:path";
import { randomSecret } from "@signet/protocol/hash";
import { type ApplicationSettings, deviceCodeGrantType } from "../../core/applications/application.ts";
import { issuerOf, type Organisation } from "../../core/organisations/organisation.ts";
import { listOrganisations } from "../../core/organisations/organisations.store.ts";
import { createOrganisation } from "../../core/organisations/organisations.ts";
import type { Role } from "../../core/users/user.ts";
import { createUser } from "../../core/users/users.ts";
import type { Service } from "../../modules/open-service.ts";
import type { Io } from "../command.ts";
import { inOneTransaction, OPERATOR } from "../with-service.ts";
import { type DemoWithoutAccounts, signedCall, signedList, withAccounts } from "./demo-accounts.ts";
import { createApp, createSecretApp, createServiceApp } from "./demo-applications.ts";
import { withExamples } from "./demo-examples.ts";
import { atAddress, type DemoFile, type DemoUser, readDemoFile, writeDemoFile } from "./demo-file.ts";

export interface Demo {
  readonly file: DemoFile;
  readonly path: string;
  /** What the demo pages show. */
  readonly shown: {
    readonly organisationIds: readonly string[];
    readonly orgId: string;
    readonly clientId: string;
    readonly credentialsFile: string;
  };
}

/** @returns undefined, with a printed reason, when the database holds other organisations */
export async function prepareDemo(service: Service, io: Io): Promise<Demo | undefined> {
  const path = join(service.config.dataDir, "demo.json");
  const kept = await readDemoFile(path);
  const organisations = await listOrganisations(service.database.query, { limit: 1_000 });
  const isThere = kept !== undefined && organisations.some(({ id }) => id === kept.org);
  if (!isThere && organisations.length > 0) {
    io.print(`No demo data was added: the database already has organisations that ${path} doesn't describe.`);
    return undefined;
  }
  const file = isThere ? await renewDemo(service, path, kept) : await createDemo(service, path);
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

function createDemo(service: Service, path: string): Promise<DemoFile> {
  return inOneTransaction(service, async (inside) => {
    const organisations = {
      ...(await createMainOrganisation(inside)),
      otherOrg: await createOtherOrganisation(inside),
    };
    const file = await withExamples(inside, await withAccounts(inside, organisations));
    // Last, so that an interrupted start leaves no partial demo.
    await writeDemoFile(path, file);
    return file;
  });
}

/** Updates the demo of an earlier start to the current base URL. */
function renewDemo(service: Service, path: string, kept: DemoFile): Promise<DemoFile> {
  return inOneTransaction(service, async (inside) => {
    const accounts = await withAccounts(inside, atAddress(kept, service.config.baseUrl));
    const file = await withExamples(inside, accounts);
    if (JSON.stringify(file) !== JSON.stringify(kept)) await writeDemoFile(path, file);
    return file;
  });
}

async function createMainOrganisation(service: Service): Promise<Omit<DemoWithoutAccounts, "otherOrg">> {
  const { baseUrl } = service.config;
  const organisation = await createDemoOrganisation(service, "Demo");
  const org = organisation.id;
  const web = webSettings(baseUrl);
  const native = await createApp(service, org, "Demo native app", "native", nativeSettings);
  const spa = await createApp(service, org, "Demo single-page app", "spa", spaSettings(baseUrl));
  return {
    baseUrl,
    org,
    issuer: issuerOf(baseUrl, org),
    admin: await createDemoUser(service, organisation, "Administrator", "admin@demo.example", "Ada", "Admin"),
    user: await createDemoUser(service, organisation, "Standard", "user@demo.example", "Uma", "User"),
    webApp: {
      ...(await createSecretApp(service, org, "Demo web app", web)),
      redirectUris: web.redirectUris,
      returnUrls: web.returnUrls,
    },
    nativeApp: { clientId: native.id, redirectUris: native.settings.redirectUris },
    spaApp: { clientId: spa.id, redirectUris: spa.settings.redirectUris },
    serviceApp: await createServiceApp(service, org, "Demo service"),
  };
}

async function createOtherOrganisation(service: Service): Promise<DemoWithoutAccounts["otherOrg"]> {
  const other = await createDemoOrganisation(service, "Other");
  return {
    org: other.id,
    issuer: issuerOf(service.config.baseUrl, other.id),
    admin: await createDemoUser(service, other, "Administrator", "admin@other.example", "Otto", "Other"),
    serviceApp: await createServiceApp(service, other.id, "Other service"),
  };
}

async function createDemoOrganisation(service: Service, name: string): Promise<Organisation> {
  const { query } = service.database;
  const organisation = await createOrganisation(service, query, { name, actor: OPERATOR });
  await service.deviceCa.create(query, { orgId: organisation.id, actor: OPERATOR });
  return organisation;
}

const webSettings = (baseUrl: string) => ({
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

const nativeSettings: Partial<ApplicationSettings> = {
  redirectUris: ["http://127.0.0.1/callback"],
  grantTypes: ["authorization_code", "refresh_token", deviceCodeGrantType],
};

async function createDemoUser(
  service: Service,
  organisation: Organisation,
  role: Role,
  email: string,
  firstname: string,
  surname: string,
): Promise<DemoUser> {
  const password = randomSecret("", 15);
  const person = { organisation, role, email, firstname, surname, password };
  await createUser(service, { ...person, emailVerified: true, actor: OPERATOR });
  return { email, password };
}

export function printDemo({ file, path }: Demo, io: Io, { hasMailbox }: { hasMailbox: boolean }): void {
  const { baseUrl, org, issuer, admin, user, serviceApp } = file;
  io.print(`
Signet is ready.

  Organisation (ORG) ${org}
  Try the sign-in    ${baseUrl}/demo/try
  Start page         ${baseUrl}/
  API reference      ${baseUrl}/docs
  Discovery          ${issuer}/.well-known/openid-configuration
  Console            ${baseUrl}/oauth/manage/${org}
  Devices            ${baseUrl}/devices/manage/${org}
  Your account       ${issuer}/account${hasMailbox ? `\n  Mailbox            ${baseUrl}/demo/mailbox` : ""}

  User               ${user.email}   ${user.password}
  Administrator      ${admin.email}  ${admin.password}

  Get a token:

  curl -s ${issuer}/token -d grant_type=client_credentials -d client_id=${serviceApp.clientId} -d client_secret=${serviceApp.clientSecret}

  Calls signed by a system account and by an administrator account:

  ${signedCall(file)}

  ${signedList(file)}

  All IDs and credentials as JSON: ${path}
  Stop with Ctrl+C.
`);
}
