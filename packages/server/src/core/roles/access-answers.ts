/** Answers whether, and why, a subject has a role or a permission, or may use an application: API v1 and the console ask here. */
import type { Db } from "../../db/open.ts";
import { findApplication } from "../applications/applications.store.ts";
import { findGroup } from "../groups/groups.store.ts";
import { findSystemAccount } from "../system-accounts/system-accounts.store.ts";
import type { User } from "../users/user.ts";
import { findUser } from "../users/users.store.ts";
import { type Asked, type Explanation, explainAccess, type PathStep } from "./access-paths.ts";
import type { Subject } from "./assignments.store.ts";
import type { Entitlements } from "./entitlement.ts";
import {
  findEntitlementsOfAccount,
  findEntitlementsOfClient,
  findEntitlementsOfGroup,
  findEntitlementsOfUser,
} from "./entitlements.store.ts";
import { InvalidRole, isPermission } from "./role.ts";
import { findRoleByKey } from "./roles.store.ts";

export interface AccessQuestion extends Subject {
  readonly orgId: string;
  /** Undefined: the organisation's own roles. */
  readonly applicationId?: string | undefined;
  /** One of the two, or none: whether it may use the application. */
  readonly permission?: string | undefined;
  readonly role?: string | undefined;
}

/** @throws InvalidRole naming what the organisation, or the application, does not have */
export async function answerAccess(db: Db, question: AccessQuestion): Promise<Explanation> {
  const { orgId, applicationId, permission, role } = question;
  if (permission !== undefined && role !== undefined) throw invalid("role", "or permission, not both");
  if (permission !== undefined && !isPermission(permission))
    throw invalid("permission", "must be resource:action");
  const subject = await subjectOf(db, question);
  if (!subject) throw invalid("subjectId", `names no ${question.subjectType} of the organisation`);
  const application =
    applicationId === undefined ? undefined : await findApplication(db, orgId, applicationId);
  if (applicationId !== undefined && !application)
    throw invalid("applicationId", "names no application of the organisation");
  if (
    role !== undefined &&
    !(await findRoleByKey(db, { orgId, key: role, applicationId: applicationId ?? null }))
  )
    throw invalid("role", "names no role of the application");
  return explainAccess({
    ...subject,
    ...{ permission, role },
    application: application && {
      id: application.id,
      isOpen: application.settings.access === "everyone",
    },
  });
}

type Found = Pick<Asked, "subject" | "isDisabled" | "held">;

async function subjectOf(
  db: Db,
  { orgId, subjectType, subjectId: id }: AccessQuestion,
): Promise<Found | undefined> {
  switch (subjectType) {
    case "user": {
      const user = await findUser(db, orgId, id);
      return (
        user && { subject: stepOf(user), isDisabled: user.disabledAt !== null, held: await heldBy(db, user) }
      );
    }
    case "group": {
      const group = await findGroup(db, { orgId, id });
      const subject: PathStep = { type: "group", id, name: group?.displayName ?? "" };
      return group && { subject, isDisabled: false, held: await findEntitlementsOfGroup(db, { orgId, id }) };
    }
    case "application": {
      const client = await findApplication(db, orgId, id);
      const isDisabled = client?.disabledAt != null;
      return (
        client && { subject: undefined, isDisabled, held: await findEntitlementsOfClient(db, { orgId, id }) }
      );
    }
    case "systemAccount": {
      const account = await findSystemAccount(db, orgId, id);
      const isDisabled = account?.disabledAt != null;
      return (
        account && {
          subject: undefined,
          isDisabled,
          held: await findEntitlementsOfAccount(db, { orgId, id }),
        }
      );
    }
  }
}

const stepOf = ({ id, firstname, surname, email }: User): PathStep => ({
  type: "user",
  id,
  name: [firstname, surname].filter((part) => part !== "").join(" ") || email,
});

/** With the built-in role that the user's own `role` gives. */
async function heldBy(db: Db, { orgId, id: userId, role: key }: User): Promise<Entitlements> {
  const held = await findEntitlementsOfUser(db, { orgId, userId });
  const builtIn = await findRoleByKey(db, { orgId, key, applicationId: null });
  if (!builtIn) return held;
  const { id, permissions } = builtIn;
  const own = { id, key, permissions, applicationId: null, groupId: null };
  return { ...held, roles: [own, ...held.roles] };
}

const invalid = (name: string, message: string) => new InvalidRole([{ path: `/${name}`, message }]);
