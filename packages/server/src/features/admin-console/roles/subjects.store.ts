/** Finds who a role is given to, by what an administrator types, and names who has one. */
import { isUuid } from "@signet/protocol/hash";
import { selectNames } from "../../../core/audit/audit.store.ts";
import { groupNameKey } from "../../../core/groups/group.ts";
import {
  type Assignment,
  type Subject,
  type SubjectType,
  subjectExists,
} from "../../../core/roles/assignments.store.ts";
import { findMemberNames } from "../../../core/users/members/member-names.store.ts";
import { emailKey } from "../../../core/users/user.ts";
import { findSignInAccount } from "../../../core/users/users.store.ts";
import type { Db } from "../../../db/open.ts";

/** @param text an email address, a name, or an ID. @returns undefined for nobody; several when a name is not enough */
export async function findTypedSubject(
  db: Db,
  orgId: string,
  { subjectType, text }: { readonly subjectType: SubjectType; readonly text: string },
): Promise<Subject | "several" | undefined> {
  if (text === "") return undefined;
  const byId = { subjectType, subjectId: text.toLowerCase() };
  if (isUuid(byId.subjectId) && (await subjectExists(db, orgId, byId))) return byId;
  if (subjectType === "user") {
    const account = await findSignInAccount(db, orgId, emailKey(text));
    return account && { subjectType, subjectId: account.user.id };
  }
  const [first, second] = await idsByName(db, orgId, subjectType, text);
  if (second !== undefined) return "several";
  return first === undefined ? undefined : { subjectType, subjectId: first };
}

async function idsByName(
  db: Db,
  orgId: string,
  subjectType: Exclude<SubjectType, "user">,
  name: string,
): Promise<string[]> {
  if (subjectType === "group") {
    const query = db.selectFrom("user_group").select("id").where("org_id", "=", orgId);
    const rows = await query.where("name_key", "=", groupNameKey(name)).limit(2).execute();
    return rows.map(({ id }) => id);
  }
  const table = subjectType === "application" ? "application" : "system_account";
  const query = db.selectFrom(table).select("id").where("org_id", "=", orgId);
  const rows = await query.where("name", "=", name).limit(2).execute();
  return rows.map(({ id }) => id);
}

/** @param subjects of one page. @returns by id */
export async function findSubjectNames(
  db: Db,
  orgId: string,
  subjects: readonly Subject[],
): Promise<ReadonlyMap<string, string>> {
  const idsOf = (type: SubjectType) =>
    subjects.filter(({ subjectType }) => subjectType === type).map(({ subjectId }) => subjectId);
  const members = await findMemberNames(db, orgId, idsOf("user"));
  const groups = idsOf("group");
  const named =
    groups.length === 0
      ? []
      : await db
          .selectFrom("user_group")
          .select(["id", "display_name as name"])
          .where("org_id", "=", orgId)
          .where("id", "in", groups)
          .execute();
  const programs = [
    ...(await selectNames(db, orgId, "client", idsOf("application"))),
    ...(await selectNames(db, orgId, "system-account", idsOf("systemAccount"))),
  ];
  const users = [...members.values()].map(({ id, email }) => ({ id, name: email }));
  return new Map([...users, ...named, ...programs].map(({ id, name }) => [id, name]));
}

/** Where each is, below the console. */
export const subjectPath = ({
  subjectType,
  subjectId,
}: Pick<Assignment, "subjectType" | "subjectId">): string => {
  const paths = {
    user: "users",
    group: "groups",
    application: "applications",
    systemAccount: "system-accounts",
  };
  return `/${paths[subjectType]}/${subjectId}`;
};
