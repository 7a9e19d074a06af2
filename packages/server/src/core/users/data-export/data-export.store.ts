import type { Db } from "../../../db/open.ts";
import type { User } from "../user.ts";

type Member = Pick<User, "orgId" | "homeOrgId" | "id">;

/** The account's row in the home organisation. */
export async function readAccount(db: Db, { homeOrgId, id }: Member) {
  return db
    .selectFrom("user_account")
    .select(["email", "email_verified_at", "username", "firstname", "surname", "phone", "locale"])
    .select(["password_changed_at", "created_at", "updated_at", "attributes"])
    .where((eb) => eb.and({ org_id: homeOrgId, id }))
    .executeTakeFirst();
}

export async function readMemberships(db: Db, { homeOrgId, id }: Member) {
  return db
    .selectFrom("membership")
    .innerJoin("organisation", "organisation.id", "membership.org_id")
    .select(["membership.org_id", "organisation.name", "membership.role", "membership.created_at"])
    .select(["membership.attributes", "membership.groups"])
    .where((eb) => eb.and({ "membership.home_org_id": homeOrgId, "membership.user_id": id }))
    .orderBy("membership.created_at")
    .orderBy("membership.org_id")
    .execute();
}

export async function readFactors(db: Db, { homeOrgId, id }: Member) {
  const of = (table: "totp_credential" | "passkey" | "recovery_code") =>
    db.selectFrom(table).where("org_id", "=", homeOrgId).where("user_id", "=", id);
  return {
    totp: await of("totp_credential").select("created_at").executeTakeFirst(),
    passkeys: await db
      .selectFrom("passkey")
      .select(["name", "created_at", "last_used_at", "backed_up"])
      .where((eb) => eb.and({ org_id: homeOrgId, user_id: id }))
      .orderBy("created_at")
      .execute(),
    codes: await db
      .selectFrom("recovery_code")
      .select(["created_at", "used_at"])
      .where((eb) => eb.and({ org_id: homeOrgId, user_id: id }))
      .orderBy("created_at")
      .execute(),
  };
}

export async function readBrowsers(db: Db, { orgId, id }: Member) {
  return {
    sessions: await db
      .selectFrom("browser_session")
      .select(["id", "user_agent", "address", "amr", "created_at", "last_seen_at", "expires_at", "ended_at"])
      .where((eb) => eb.and({ org_id: orgId, user_id: id }))
      .orderBy("created_at")
      .execute(),
    remembered: await db
      .selectFrom("remembered_device")
      .select(["user_agent", "address", "created_at", "last_used_at", "expires_at", "revoked_at"])
      .where((eb) => eb.and({ org_id: orgId, user_id: id }))
      .orderBy("created_at")
      .execute(),
    known: await db
      .selectFrom("known_browser")
      .select(["sign_ins", "last_seen_at", "expires_at"])
      .where((eb) => eb.and({ org_id: orgId, user_id: id }))
      .orderBy("last_seen_at")
      .execute(),
  };
}

/** What applications have about the user, with the application's name. */
export async function readApplications(db: Db, { orgId, id }: Member) {
  // Active and revoked consents have an index each.
  const consents = [
    ...(await readConsents(db, { orgId, id }, "is")),
    ...(await readConsents(db, { orgId, id }, "is not")),
  ];
  const tokens = await db
    .selectFrom("token_family")
    .innerJoin("application", (join) =>
      join
        .onRef("application.org_id", "=", "token_family.org_id")
        .onRef("application.id", "=", "token_family.application_id"),
    )
    .select(["application.id as application_id", "application.name"])
    .select(["token_family.scope", "token_family.created_at", "token_family.rotated_at"])
    .select(["token_family.expires_at", "token_family.revoked_at"])
    .where((eb) => eb.and({ "token_family.org_id": orgId, "token_family.user_id": id }))
    .orderBy("token_family.created_at")
    .execute();
  return { consents, tokens, ...(await readApplicationRecords(db, { orgId, id })) };
}

function readConsents(db: Db, { orgId, id }: Pick<Member, "orgId" | "id">, is: "is" | "is not") {
  return db
    .selectFrom("consent")
    .innerJoin("application", (join) =>
      join
        .onRef("application.org_id", "=", "consent.org_id")
        .onRef("application.id", "=", "consent.application_id"),
    )
    .select(["application.id as application_id", "application.name"])
    .select(["consent.scope", "consent.granted_at", "consent.revoked_at"])
    .where((eb) => eb.and({ "consent.org_id": orgId, "consent.user_id": id }))
    .where("consent.revoked_at", is, null)
    .orderBy("consent.granted_at")
    .execute();
}

async function readApplicationRecords(db: Db, { orgId, id }: Pick<Member, "orgId" | "id">) {
  const keys = await db
    .selectFrom("session_key")
    .innerJoin("application", (join) =>
      join
        .onRef("application.org_id", "=", "session_key.org_id")
        .onRef("application.id", "=", "session_key.application_id"),
    )
    .select(["application.id as application_id", "application.name", "session_key.kind"])
    .select(["session_key.address", "session_key.created_at", "session_key.last_seen_at"])
    .select(["session_key.expires_at", "session_key.revoked_at"])
    .where((eb) => eb.and({ "session_key.org_id": orgId, "session_key.user_id": id }))
    .orderBy("session_key.created_at")
    .execute();
  const assigned = await db
    .selectFrom("application_user")
    .innerJoin("application", (join) =>
      join
        .onRef("application.org_id", "=", "application_user.org_id")
        .onRef("application.id", "=", "application_user.application_id"),
    )
    .select(["application.id as application_id", "application.name", "application_user.assigned_at"])
    .where((eb) => eb.and({ "application_user.org_id": orgId, "application_user.user_id": id }))
    .orderBy("application_user.assigned_at")
    .execute();
  const settings = await db
    .selectFrom("application_user_setting")
    .innerJoin("application", (join) =>
      join
        .onRef("application.org_id", "=", "application_user_setting.org_id")
        .onRef("application.id", "=", "application_user_setting.application_id"),
    )
    .select(["application.id as application_id", "application.name"])
    .select(["application_user_setting.settings", "application_user_setting.updated_at"])
    .where("application_user_setting.org_id", "=", orgId)
    .where("application_user_setting.user_id", "=", id)
    .orderBy("application_user_setting.updated_at")
    .execute();
  return { keys, assigned, settings };
}

/** Links and emails, without their content. */
export async function readMessages(db: Db, { orgId, id }: Member, email: string) {
  return {
    links: await db
      .selectFrom("user_action")
      .select(["type", "created_at", "expires_at", "used_at"])
      .where((eb) => eb.and({ org_id: orgId, user_id: id }))
      .orderBy("created_at")
      .execute(),
    mails: await db
      .selectFrom("outgoing_mail")
      .select(["template", "locale", "created_at", "sent_at"])
      .where((eb) => eb.and({ org_id: orgId, recipient: email }))
      .orderBy("created_at")
      .execute(),
  };
}
