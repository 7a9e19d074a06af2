/** The records about one user, with readable member names. */
import type { Db } from "../../../db/open.ts";
import { type DirectGroup, findDirectGroups } from "../../groups/named-groups.store.ts";
import type { Organisation } from "../../organisations/organisation.ts";
import type { User } from "../user.ts";
import {
  named,
  readAccount,
  readConsents,
  readIdentities,
  readMails,
  readMemberships,
  readRows,
  readRowsOfApplications,
} from "./data-export.store.ts";

type Exported = Pick<User, "orgId" | "homeOrgId" | "id" | "email">;

export async function personalRecords(db: Db, organisation: Pick<Organisation, "id">, user: Exported) {
  const isHome = user.homeOrgId === organisation.id;
  return {
    account: await account(db, user, isHome),
    memberships: await memberships(db, user, isHome),
    ...(isHome ? { secondFactors: await factors(db, user) } : {}),
    identities: await readIdentities(db, user),
    ...(await browsers(db, user)),
    ...(await applications(db, user)),
    links: await readRows(db, user, "user_action", "created_at", {
      kind: "type",
      sentAt: "created_at",
      expiresAt: "expires_at",
      usedAt: "used_at",
    }),
    acceptedTerms: await readRows(db, user, "accepted_terms", "accepted_at", {
      version: "version",
      acceptedAt: "accepted_at",
    }),
    mails: await readMails(db, user.orgId, user.email),
  };
}

/** A guest's password, attributes and history belong to the home organisation. */
async function account(db: Db, user: Exported, isHome: boolean) {
  const { id } = user;
  const row = await readAccount(db, user);
  if (!row) return { id };
  const address = { email: "email", emailConfirmedAt: "email_verified_at", username: "username" };
  const person = {
    firstName: "firstname",
    surname: "surname",
    phone: "phone",
    language: "locale",
    details: "profile",
  };
  const times = { passwordSetAt: "password_changed_at", createdAt: "created_at", changedAt: "updated_at" };
  const own = isHome ? { ...times, attributes: "attributes" } : {};
  return { id, ...named(row, { ...address, ...person, ...own }) };
}

/** A membership's details belong to its organisation. */
async function memberships(db: Db, user: Exported, isHome: boolean) {
  const rows = await readMemberships(db, user);
  const groups = await findDirectGroups(db, { orgId: user.orgId, userId: user.id });
  return rows
    .filter(({ org_id }) => isHome || org_id === user.orgId)
    .map((row) => {
      const isHere = row.org_id === user.orgId;
      const details = isHere ? { attributes: "attributes" } : {};
      const organisation = { id: row.org_id, name: row.name };
      const membership = named(row, { role: "role", since: "created_at", ...details });
      return { organisation, ...membership, ...(isHere ? { groups: groups.map(toExported) } : {}) };
    });
}

const toExported = ({ displayName: name, addedAt }: DirectGroup) => ({
  name,
  since: new Date(addedAt).toISOString(),
});

async function factors(db: Db, { homeOrgId: orgId, id }: Exported) {
  const owner = { orgId, id };
  const added = { addedAt: "created_at" } as const;
  const passkey = { name: "name", ...added, lastUsedAt: "last_used_at", synced: "backed_up" } as const;
  const code = { madeAt: "created_at", usedAt: "used_at" } as const;
  const [authenticatorApp = null] = await readRows(db, owner, "totp_credential", "created_at", added);
  return {
    authenticatorApp,
    passkeys: await readRows(db, owner, "passkey", "created_at", passkey),
    recoveryCodes: await readRows(db, owner, "recovery_code", "created_at", code),
  };
}

async function browsers(db: Db, user: Exported) {
  const browser = { browser: "user_agent", address: "address" } as const;
  return {
    sessions: await readRows(db, user, "browser_session", "created_at", {
      id: "id",
      ...browser,
      signedInWith: "amr",
      boundToMachineAt: "bound_at",
      startedAt: "created_at",
      lastUsedAt: "last_seen_at",
      expiresAt: "expires_at",
      endedAt: "ended_at",
    }),
    rememberedBrowsers: await readRows(db, user, "remembered_device", "created_at", {
      ...browser,
      rememberedAt: "created_at",
      lastUsedAt: "last_used_at",
      expiresAt: "expires_at",
      forgottenAt: "revoked_at",
    }),
    knownBrowsers: await readRows(db, user, "known_browser", "last_seen_at", {
      signIns: "sign_ins",
      lastUsedAt: "last_seen_at",
      expiresAt: "expires_at",
    }),
  };
}

async function applications(db: Db, user: Exported) {
  return {
    consents: await readConsents(db, user),
    tokens: await readRowsOfApplications(db, user, "token_family", "created_at", {
      scopes: "scope",
      issuedAt: "created_at",
      lastRefreshedAt: "rotated_at",
      expiresAt: "expires_at",
      revokedAt: "revoked_at",
    }),
    sessionKeys: await readRowsOfApplications(db, user, "session_key", "created_at", {
      kind: "kind",
      address: "address",
      issuedAt: "created_at",
      lastUsedAt: "last_seen_at",
      expiresAt: "expires_at",
      revokedAt: "revoked_at",
    }),
    assignedApplications: await readRowsOfApplications(db, user, "application_user", "assigned_at", {
      assignedAt: "assigned_at",
    }),
    applicationSettings: await readRowsOfApplications(db, user, "application_user_setting", "updated_at", {
      settings: "settings",
      changedAt: "updated_at",
    }),
  };
}
