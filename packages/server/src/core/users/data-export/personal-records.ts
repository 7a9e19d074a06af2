/** The records about one user with names that people can read; times as ISO 8601. */
import type { Db } from "../../../db/open.ts";
import type { Organisation } from "../../organisations/organisation.ts";
import type { User } from "../user.ts";
import {
  readAccount,
  readApplications,
  readBrowsers,
  readFactors,
  readMemberships,
  readMessages,
} from "./data-export.store.ts";

export async function personalRecords(db: Db, organisation: Organisation, user: User) {
  const isHome = user.homeOrgId === organisation.id;
  return {
    account: await account(db, user, isHome),
    memberships: await memberships(db, user, isHome),
    ...(isHome ? { secondFactors: await factors(db, user) } : {}),
    ...(await browsers(db, user)),
    ...(await applications(db, user)),
    ...(await messages(db, user)),
  };
}

const time = (milliseconds: number | null): string | null =>
  milliseconds === null ? null : new Date(milliseconds).toISOString();

const json = (text: string | null): unknown => (text === null ? null : JSON.parse(text));

/** A guest's password, attributes and history are the home organisation's to tell. */
async function account(db: Db, user: User, isHome: boolean) {
  const row = await readAccount(db, user);
  if (!row) return { id: user.id };
  const { email, username, phone, firstname, surname } = row;
  const seen = { id: user.id, email, emailConfirmedAt: time(row.email_verified_at), username };
  const person = { ...seen, firstName: firstname, surname, phone, language: row.locale };
  if (!isHome) return person;
  return {
    ...person,
    passwordSetAt: time(row.password_changed_at),
    createdAt: time(row.created_at),
    changedAt: time(row.updated_at),
    attributes: json(row.attributes),
  };
}

/** What another organisation keeps about the membership is that one's to tell. */
async function memberships(db: Db, user: User, isHome: boolean) {
  const rows = await readMemberships(db, user);
  return rows
    .filter(({ org_id }) => isHome || org_id === user.orgId)
    .map((row) => ({
      organisation: { id: row.org_id, name: row.name },
      role: row.role,
      since: time(row.created_at),
      ...(row.org_id === user.orgId ? { groups: json(row.groups), attributes: json(row.attributes) } : {}),
    }));
}

async function factors(db: Db, user: User) {
  const { totp, passkeys, codes } = await readFactors(db, user);
  return {
    authenticatorApp: totp ? { addedAt: time(totp.created_at) } : null,
    passkeys: passkeys.map((one) => ({
      name: one.name,
      addedAt: time(one.created_at),
      lastUsedAt: time(one.last_used_at),
      synced: one.backed_up === 1,
    })),
    recoveryCodes: codes.map((one) => ({ madeAt: time(one.created_at), usedAt: time(one.used_at) })),
  };
}

async function browsers(db: Db, user: User) {
  const { sessions, remembered, known } = await readBrowsers(db, user);
  return {
    sessions: sessions.map((one) => ({
      id: one.id,
      browser: one.user_agent,
      address: one.address,
      signedInWith: json(one.amr),
      startedAt: time(one.created_at),
      lastUsedAt: time(one.last_seen_at),
      expiresAt: time(one.expires_at),
      endedAt: time(one.ended_at),
    })),
    rememberedBrowsers: remembered.map((one) => ({
      browser: one.user_agent,
      address: one.address,
      rememberedAt: time(one.created_at),
      lastUsedAt: time(one.last_used_at),
      expiresAt: time(one.expires_at),
      forgottenAt: time(one.revoked_at),
    })),
    knownBrowsers: known.map((one) => ({
      signIns: one.sign_ins,
      lastUsedAt: time(one.last_seen_at),
      expiresAt: time(one.expires_at),
    })),
  };
}

async function applications(db: Db, user: User) {
  const { consents, tokens, keys, assigned, settings } = await readApplications(db, user);
  const of = (row: { application_id: string; name: string }) => ({
    application: { id: row.application_id, name: row.name },
  });
  return {
    consents: consents.map((one) => ({
      ...of(one),
      scopes: one.scope.split(" "),
      grantedAt: time(one.granted_at),
      takenBackAt: time(one.revoked_at),
    })),
    tokens: tokens.map((one) => ({
      ...of(one),
      scopes: one.scope.split(" "),
      issuedAt: time(one.created_at),
      lastRefreshedAt: time(one.rotated_at),
      expiresAt: time(one.expires_at),
      revokedAt: time(one.revoked_at),
    })),
    sessionKeys: keys.map((one) => ({
      ...of(one),
      kind: one.kind,
      address: one.address,
      issuedAt: time(one.created_at),
      lastUsedAt: time(one.last_seen_at),
      expiresAt: time(one.expires_at),
      revokedAt: time(one.revoked_at),
    })),
    assignedApplications: assigned.map((one) => ({ ...of(one), assignedAt: time(one.assigned_at) })),
    applicationSettings: settings.map((one) => ({
      ...of(one),
      settings: json(one.settings),
      changedAt: time(one.updated_at),
    })),
  };
}

async function messages(db: Db, user: User) {
  const { links, mails } = await readMessages(db, user, user.email);
  return {
    links: links.map((one) => ({
      kind: one.type,
      sentAt: time(one.created_at),
      expiresAt: time(one.expires_at),
      usedAt: time(one.used_at),
    })),
    mails: mails.map((one) => ({
      kind: one.template,
      language: one.locale,
      writtenAt: time(one.created_at),
      sentAt: time(one.sent_at),
    })),
  };
}
