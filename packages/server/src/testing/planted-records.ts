/** One of every record that pages of the console are about, under names and identifiers that a test can look for. */
import { listAuditEvents } from "../core/audit/store.ts";
import { createPreauthorization, grantOrganisationConsent } from "../core/consents/consents.ts";
import { createCustomScope } from "../core/scopes/custom-scopes.ts";
import { createUser } from "../core/users/users.ts";
import { listUsableCodes } from "../features/device-identity/codes/store.ts";
import type { Service } from "../open-service.ts";
import { enrolledByCode, newCode } from "./enrolments.ts";
import { hangRecords } from "./hanging-records.ts";
import { type Holder, plantHolder } from "./records-in-states.ts";
import { makeAgent, makePool } from "./test-agent.ts";
import { makeClient, makeOrganisation, PASSWORD, type TestOrganisation } from "./test-service.ts";
import { makeSystemAccount } from "./test-system-account.ts";

export interface Planted extends TestOrganisation {
  readonly administrator: TestOrganisation["user"];
  /** A user with second factors and all that an account page can be about. */
  readonly holder: Holder;
  /** As `recordAddress` takes them. */
  readonly ids: Readonly<Record<string, string>>;
  /** What no page may show to anybody else. */
  readonly secrets: readonly string[];
}

/** An organisation with an administrator and one of every record. */
export async function plantRecords(service: Service, name: string): Promise<Planted> {
  const org = await makeOrganisation(service, name);
  const { organisation } = org;
  const orgId = organisation.id;
  const actor = "test";
  const email = `admin@${name.toLowerCase()}.example`;
  const person = {
    email,
    password: PASSWORD,
    firstname: `Ada${name}`,
    surname: "Admin",
    emailVerified: true,
  };
  const administratorId = await createUser(service, {
    organisation,
    ...person,
    role: "Administrator",
    actor,
  });
  const { application } = await makeClient(service, organisation, {
    redirectUris: [`https://planted-${name.toLowerCase()}.example/callback`],
    allowedScopes: ["openid", "email"],
    access: "assigned",
  });
  const scope = await createCustomScope(service, {
    orgId,
    name: `planted-${name.toLowerCase()}`,
    displayName: `Planted ${name}`,
    description: `What ${name} planted`,
    claims: [],
    sensitive: false,
    actor,
  });
  const consent = await grantOrganisationConsent(service, { application, scopes: ["openid"], actor });
  const { id: preauthorization } = await createPreauthorization(service, {
    application,
    scopes: ["openid", "email"],
    actor,
  });
  const account = await makeSystemAccount(service, org);
  const pool = await makePool(service, org, { name: `Planted pool ${name}` });
  const agent = await makeAgent(service, org, pool);
  const device = await enrolledByCode(service, org.issuer, { name: `Planted device ${name}` });
  await newCode(service, orgId, { name: `Planted code ${name}` });
  const [event] = await listAuditEvents(service.database.query, orgId, 1);
  const [code] = await listUsableCodes(service.database.query, orgId, { now: service.clock(), limit: 1 });
  const shut = await makePool(service, org, { name: `Retired pool ${name}` });
  await service.database.query
    .updateTable("signing_pool")
    .set({ disabled_at: service.clock() })
    .where("id", "=", shut.id)
    .execute();
  const holder = await plantHolder(service, org, application.id);
  const hanger = { organisation, applicationId: application.id, userId: org.user.id };
  return {
    ...org,
    administrator: { id: administratorId, email, password: PASSWORD },
    holder,
    ids: {
      ...holder.ids,
      "users/reset-factors": holder.user.id,
      "pool/enable": shut.id,
      ...(await hangRecords(service, hanger)),
      applications: application.id,
      quickstart: application.id,
      users: org.user.id,
      scopes: scope.id,
      consents: consent,
      preauthorizations: preauthorization,
      pool: pool.id,
      agent: agent.agentId,
      kid: agent.keys[0]?.kid ?? "",
      codes: code?.id ?? "",
      manage: device.deviceId,
      "audit-log": event?.id ?? "",
    },
    secrets: [
      org.user.email,
      email,
      application.id,
      scope.id,
      account.id,
      account.publicKey,
      pool.id,
      device.deviceId,
      `Planted ${name}`,
      `Planted pool ${name}`,
      `Planted device ${name}`,
    ],
  };
}
