/** Records that pages are there for only as long as they are in some state: invited, disabled, a guest, with second factors. */
import { randomUUID } from "node:crypto";
import { sha256Base64url } from "@signet/protocol/hash";
import { createApplication, disableApplication } from "../core/applications/applications.ts";
import { grantUserConsent } from "../core/consents/store.ts";
import type { Organisation } from "../core/organisations/organisation.ts";
import { createOrganisation } from "../core/organisations/organisations.ts";
import { insertRememberedDevice } from "../core/second-factors/remembered-devices/store.ts";
import { acrValues } from "../core/sessions/session.ts";
import { signIn } from "../core/sessions/sessions.ts";
import { changeSystemAccount, createSystemAccount } from "../core/system-accounts/system-accounts.ts";
import { inviteUser } from "../core/users/invitations/invitations.ts";
import { findUser, insertMembership } from "../core/users/store.ts";
import { createUser, disableUser } from "../core/users/users.ts";
import type { Service } from "../open-service.ts";
import { type TestBrowser, testBrowser } from "./test-browser.ts";
import {
  giveAuthenticator,
  givePasskey,
  giveRecoveryCodes,
  showFactor,
  showsTwoFactor,
} from "./test-factors.ts";
import { PASSWORD, type TestOrganisation } from "./test-service.ts";
import { follow, logIn } from "./test-visit.ts";

const actor = "operator";

/** One of its own each time. */
const person = (service: Service, organisation: Organisation, name: string) =>
  createUser(service, {
    organisation,
    email: `${name}-${randomUUID().slice(0, 8)}@${organisation.id.slice(-8)}.example`,
    password: PASSWORD,
    firstname: name,
    surname: "Example",
    role: "Standard",
    emailVerified: true,
    actor,
  });

/** @returns identifiers as `recordAddress` takes them, for the acts that want a record in this state: `users/enable` */
export async function recordsInStates(
  service: Service,
  organisation: Organisation,
): Promise<Record<string, string>> {
  const orgId = organisation.id;
  const disabled = await person(service, organisation, "disabled");
  await disableUser(service, { orgId, id: disabled, disabled: true, actor });
  const application = await createApplication(service, {
    orgId,
    name: "Retired",
    clientType: "confidential",
    settings: {},
    actor,
  });
  await disableApplication(service, { orgId, id: application.id, disabled: true, actor });
  const { account } = await createSystemAccount(service, {
    orgId,
    applicationId: application.id,
    name: "Retired import",
    isAdministrator: false,
    requiresStrictSignature: true,
    actor,
  });
  await changeSystemAccount(service, { orgId, id: account.id, disabled: true, actor });
  return {
    "users/enable": disabled,
    "users/remove": await guest(service, organisation),
    "applications/enable": application.id,
    "system-accounts/enable": account.id,
    ...(await invited(service, organisation)),
  };
}

/** Nobody can be invited where no mail is sent. */
async function invited(service: Service, organisation: Organisation): Promise<Record<string, string>> {
  if (!service.outbox.isOpen) return {};
  const deps = { ...service, baseUrl: service.config.baseUrl };
  const email = `invited@${organisation.id.slice(-8)}.example`;
  const asked = {
    organisation,
    email,
    firstname: "Ines",
    surname: "Invited",
    role: "Standard",
    actor,
  } as const;
  return { "users/invitation": await inviteUser(deps, asked) };
}

/** A user of another organisation. */
async function guest(service: Service, { id: orgId, name }: Organisation): Promise<string> {
  const db = service.database.query;
  const home = await createOrganisation(service, db, { name: `Neighbour of ${name}`, actor });
  const userId = await person(service, home, "guest");
  await insertMembership(db, { orgId, userId, homeOrgId: home.id, role: "Standard", now: service.clock() });
  return userId;
}

/** Pages of the account that are about one record: `recordAddress` knows their ids. */
export const accountRecordPages = [
  "/oauth/:org/account/security/passkey?id=:passkey",
  "/oauth/:org/account/security/browsers?id=:browser",
  "/oauth/:org/account/sessions/end?id=:ownSession",
  "/oauth/:org/user/consents?id=:ownConsent",
] as const;

/** Somebody with one of everything that an account page can be about. */
export interface Holder {
  readonly user: TestOrganisation["user"];
  /** Each lets the holder in once, after the password. */
  readonly recoveryCodes: readonly string[];
  /** As `recordAddress` takes them. */
  readonly ids: Readonly<Record<"passkey" | "browser" | "ownSession" | "ownConsent", string>>;
}

export async function plantHolder(
  service: Service,
  org: TestOrganisation,
  applicationId: string,
): Promise<Holder> {
  const { organisation } = org;
  const orgId = organisation.id;
  const db = service.database.query;
  const now = service.clock();
  const id = await person(service, organisation, "holder");
  const user = await findUser(db, orgId, id);
  if (!user) throw new Error("no user");
  const own = { ...org, user: { id, email: user.email, password: PASSWORD } };
  await giveAuthenticator(service, own);
  await givePasskey(service, own);
  const recoveryCodes = await giveRecoveryCodes(service, own);
  const [passkey] = await db.selectFrom("passkey").select("id").where("user_id", "=", id).execute();
  const device = { id: randomUUID(), orgId, userId: id, tokenHash: sha256Base64url(id), ...seenAt(now) };
  await insertRememberedDevice(db, device);
  const scopes = ["openid", "email"];
  const consent = await grantUserConsent(db, {
    orgId,
    applicationId,
    userId: id,
    scopes,
    fingerprints: {},
    now,
  });
  const { session } = await signIn(service, {
    organisation,
    user,
    amr: ["pwd"],
    acr: acrValues.password,
    address: "192.0.2.8",
    userAgent: device.userAgent,
    before: undefined,
  });
  const ids = { passkey: passkey?.id ?? "", browser: device.id, ownSession: session.id, ownConsent: consent };
  return { user: own.user, recoveryCodes, ids };
}

const seenAt = (now: number) => ({
  userAgent: "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
  address: "192.0.2.8",
  createdAt: now,
  lastUsedAt: now,
  expiresAt: now + 86_400_000,
});

/** A browser in which the holder has signed in with both factors. @param code one of the recovery codes, not used yet */
export async function signInHolder(
  org: TestOrganisation,
  { user }: Holder,
  code: string,
): Promise<TestBrowser> {
  const browser = testBrowser();
  const own = { ...org, user };
  const door = await follow(browser, await browser.get(`${org.issuer}/account/security`));
  const asked = await logIn(browser, own, door);
  const page = await showFactor(browser, own, asked, { method: "recovery", code });
  if (page.status !== 200 || showsTwoFactor(page)) throw new Error(`not let in: ${page.status}`);
  return browser;
}
