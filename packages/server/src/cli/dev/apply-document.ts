/** Makes the organisations of a development document what it says, all of it or nothing, and again after each change. */
import { randomSecret } from "@signet/protocol/hash";
import { createClientSecret } from "../../core/applications/client-secrets.ts";
import { applyFile } from "../../core/configuration/apply.ts";
import { readState } from "../../core/configuration/state.ts";
import { groupNameKey } from "../../core/groups/group.ts";
import { changeMembers } from "../../core/groups/group-members.ts";
import { findLocalGroups } from "../../core/groups/groups.store.ts";
import { createGroup } from "../../core/groups/groups.ts";
import { findDirectGroups } from "../../core/groups/named-groups.store.ts";
import { issuerOf, type Organisation } from "../../core/organisations/organisation.ts";
import { findOrganisation } from "../../core/organisations/organisations.store.ts";
import { createOrganisation } from "../../core/organisations/organisations.ts";
import { listAssignments } from "../../core/roles/assignments.store.ts";
import { assignRole, unassignRole } from "../../core/roles/assignments.ts";
import { findRoleByKey } from "../../core/roles/roles.store.ts";
import { changeRole, createRole } from "../../core/roles/roles.ts";
import { changeRole as changeStandardRole } from "../../core/users/member-record.ts";
import { changeProfile } from "../../core/users/profile/profile.ts";
import { emailKey } from "../../core/users/user.ts";
import { findUserByEmail } from "../../core/users/users.store.ts";
import { createUser, setPassword } from "../../core/users/users.ts";
import type { Service } from "../../modules/open-service.ts";
import { inOneTransaction } from "../with-service.ts";
import {
  type DevelopmentDocument,
  type DevelopmentOrganisation,
  type DevelopmentUser,
  fileOf,
  keyOf,
} from "./development-document.ts";

/** What a document does not say, kept so that it stays: ids by name, and what was made up. */
export interface KeptOrganisation {
  readonly id: string;
  /** Of confidential applications, by their key. */
  readonly secrets: Readonly<Record<string, string>>;
  /** By email address. */
  readonly passwords: Readonly<Record<string, string>>;
}
export type Kept = Readonly<Record<string, KeptOrganisation>>;

export interface AppliedApplication {
  readonly key: string;
  readonly name: string;
  readonly clientId: string;
  readonly clientType: string;
  readonly clientSecret?: string;
  readonly url?: string;
  readonly redirectUris: readonly string[];
  readonly audience?: string;
}

export interface AppliedUser {
  readonly id: string;
  readonly email: string;
  readonly password: string;
}

export interface AppliedOrganisation {
  readonly id: string;
  readonly name: string;
  readonly issuer: string;
  readonly applications: readonly AppliedApplication[];
  readonly users: readonly AppliedUser[];
}

/** For the audit log. */
const ACTOR = "cli:signet dev";
/** A single-page application of the first organisation, for the page that tries the sign-in. */
export const TRY_KEY = "signet-dev-try";

export interface Applied {
  readonly organisations: readonly AppliedOrganisation[];
  readonly tryClientId: string;
  readonly kept: Kept;
}

/** @throws the error of the first record that cannot be; nothing has changed then */
export function applyDocument(service: Service, document: DevelopmentDocument, kept: Kept): Promise<Applied> {
  return inOneTransaction(service, async (inside) => {
    const applied: Made[] = [];
    for (const [index, wanted] of document.organisations.entries())
      applied.push(
        await applyOrganisation(
          inside,
          index === 0 ? withTryPage(inside, wanted) : wanted,
          kept[wanted.name],
        ),
      );
    const tried = applied
      .flatMap(({ organisation }) => organisation.applications)
      .find(({ key }) => key === TRY_KEY);
    return {
      organisations: applied.map(({ organisation }) => ({
        ...organisation,
        applications: organisation.applications.filter(({ key }) => key !== TRY_KEY),
      })),
      tryClientId: tried?.clientId ?? "",
      kept: { ...kept, ...Object.fromEntries(applied.map((one) => [one.organisation.name, one.kept])) },
    };
  });
}

interface Made {
  readonly organisation: AppliedOrganisation;
  readonly kept: KeptOrganisation;
}

function withTryPage({ config }: Service, wanted: DevelopmentOrganisation): DevelopmentOrganisation {
  const { baseUrl } = config;
  const page = {
    name: "Sign-in of the start page",
    externalKey: TRY_KEY,
    clientType: "spa" as const,
    redirectUris: [`${baseUrl}/demo/callback`],
    postLogoutRedirectUris: [`${baseUrl}/`],
  };
  return { ...wanted, applications: [...(wanted.applications ?? []), page] };
}

interface Inside {
  readonly service: Service;
  readonly act: { readonly orgId: string; readonly actor: string };
}

async function applyOrganisation(
  service: Service,
  wanted: DevelopmentOrganisation,
  before: KeptOrganisation | undefined,
): Promise<Made> {
  const { query } = service.database;
  const found = before && (await findOrganisation(query, before.id));
  const organisation =
    found ?? (await createOrganisation(service, query, { name: wanted.name, actor: ACTOR }));
  const inside: Inside = { service, act: { orgId: organisation.id, actor: ACTOR } };
  await applyFile(
    { ...service, baseUrl: service.config.baseUrl },
    { ...inside.act, file: fileOf(wanted), prune: true },
  );
  const { applications, secrets } = await applicationsOf(inside, wanted, before?.secrets ?? {});
  await applyRoles(inside, wanted, applications);
  await applyGroups(inside, wanted.groups ?? []);
  const passwords: Record<string, string> = {};
  const users: AppliedUser[] = [];
  const current = (await findOrganisation(query, organisation.id)) ?? organisation;
  for (const user of wanted.users ?? []) {
    const password = user.password ?? before?.passwords[user.email] ?? randomSecret("", 15);
    passwords[user.email] = password;
    users.push(await applyUser(inside, { organisation: current, user, password, applications }));
  }
  const { id, name } = organisation;
  return {
    organisation: {
      id,
      name: wanted.name ?? name,
      issuer: issuerOf(service.config.baseUrl, id),
      applications,
      users,
    },
    kept: { id, secrets, passwords },
  };
}

/** Secrets are made once: only their hashes are stored. */
async function applicationsOf(
  { service, act }: Inside,
  { applications: wanted = [] }: DevelopmentOrganisation,
  before: Readonly<Record<string, string>>,
): Promise<{ applications: AppliedApplication[]; secrets: Record<string, string> }> {
  const state = await readState(service.database.query, act.orgId);
  const byKey = new Map((state?.applications ?? []).map((one) => [one.externalKey, one.application]));
  const secrets: Record<string, string> = {};
  const applications: AppliedApplication[] = [];
  for (const one of wanted) {
    const key = keyOf(one);
    const application = byKey.get(key);
    if (!application) continue;
    const { id: clientId, clientType, name, settings } = application;
    const isSecret = clientType === "confidential";
    const kept = application.secrets.length > 0 ? before[key] : undefined;
    const secret = { ...act, applicationId: clientId, label: "signet dev", expiresAt: null };
    if (isSecret) secrets[key] = kept ?? (await createClientSecret(service, secret)).plaintext;
    applications.push({
      ...{ key, name, clientId, clientType, redirectUris: settings.redirectUris },
      ...(secrets[key] === undefined ? {} : { clientSecret: secrets[key] }),
      ...(one.url === undefined ? {} : { url: one.url.replace(/\/$/, "") }),
      ...(settings.audience === undefined ? {} : { audience: settings.audience }),
    });
  }
  return { applications, secrets };
}

const idOf = (applications: readonly AppliedApplication[], key: string | undefined): string | null =>
  applications.find((one) => one.key === key)?.clientId ?? null;

async function applyRoles(
  { service, act }: Inside,
  { roles = [] }: DevelopmentOrganisation,
  applications: readonly AppliedApplication[],
): Promise<void> {
  for (const { key, application, name = key, description = null, permissions = [] } of roles) {
    const applicationId = idOf(applications, application);
    const content = { name, description, permissions };
    const found = await findRoleByKey(service.database.query, { orgId: act.orgId, applicationId, key });
    if (found) await changeRole(service, { ...act, id: found.id, content });
    else await createRole(service, { ...act, applicationId, key, content });
  }
}

async function applyGroups({ service, act }: Inside, names: readonly string[]): Promise<void> {
  const found = await findLocalGroups(service.database.query, act.orgId, names.map(groupNameKey));
  for (const displayName of names)
    if (!found.has(groupNameKey(displayName)))
      await createGroup(service, { ...act, content: { displayName, description: null, externalId: null } });
}

interface WantedUser {
  readonly organisation: Organisation;
  readonly user: DevelopmentUser;
  readonly password: string;
  readonly applications: readonly AppliedApplication[];
}

async function applyUser(inside: Inside, wanted: WantedUser): Promise<AppliedUser> {
  const { service, act } = inside;
  const { organisation, user, password } = wanted;
  const { email, phone } = user;
  const names = {
    firstname: user.firstname ?? email.split("@", 1)[0] ?? "",
    surname: user.surname ?? "Test",
  };
  const role = user.role ?? "Standard";
  const account = await findUserByEmail(service.database.query, act.orgId, emailKey(email));
  const made = { organisation, email, password, ...names, role, emailVerified: true, actor: ACTOR };
  const id =
    account?.user.id ?? (await createUser(service, { ...made, ...(phone === undefined ? {} : { phone }) }));
  if (account) {
    const { locale } = account.user;
    await changeProfile(service, { ...act, id, profile: { ...names, phone: phone ?? null, locale } });
    await changeStandardRole(service, { ...act, id, role });
    const isKnown =
      account.passwordHash !== null &&
      (await service.passwords.verify(account.passwordHash, password, act.orgId));
    if (!isKnown)
      await setPassword(deps(service), { organisation, id, password, about: [email], actor: ACTOR });
  }
  await setRoles(inside, wanted, id);
  await setGroups(inside, user.groups ?? [], id);
  return { id, email, password };
}

const deps = (service: Service) => ({ ...service, baseUrl: service.config.baseUrl });

async function setRoles(
  { service, act }: Inside,
  { user, applications }: WantedUser,
  id: string,
): Promise<void> {
  const subject = { subjectType: "user", subjectId: id } as const;
  const { query } = service.database;
  const held = await listAssignments(query, act.orgId, { limit: 1_000, isDescending: false, of: subject });
  const wanted = (user.roles ?? []).map((name) => {
    const [, application, roleKey = ""] = /^(?:(.*)\/)?([^/]*)$/.exec(name) ?? [];
    return { applicationId: idOf(applications, application), roleKey };
  });
  const isSame = (one: (typeof wanted)[number], other: (typeof held)[number]) =>
    one.applicationId === other.applicationId && one.roleKey === other.roleKey;
  for (const role of wanted)
    if (!held.some((one) => isSame(role, one))) await assignRole(service, { ...act, ...subject, role });
  for (const one of held)
    if (!wanted.some((role) => isSame(role, one))) await unassignRole(service, { ...act, id: one.id });
}

async function setGroups({ service, act }: Inside, names: readonly string[], userId: string): Promise<void> {
  const { query } = service.database;
  const member = [{ type: "user", id: userId }] as const;
  const wanted = await findLocalGroups(query, act.orgId, names.map(groupNameKey));
  const held = await findDirectGroups(query, { orgId: act.orgId, userId });
  for (const id of wanted.values()) await changeMembers(service, { ...act, id, add: member, remove: [] });
  for (const { id } of held)
    if (![...wanted.values()].includes(id))
      await changeMembers(service, { ...act, id, add: [], remove: member });
}
