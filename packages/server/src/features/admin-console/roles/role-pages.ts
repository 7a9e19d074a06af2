/** Where the pages of roles are: those of applications, and the organisation's own. */
import { findApplication } from "../../../core/applications/applications.store.ts";
import type { RecordDeps } from "../../../core/record-changes.ts";
import type { Role } from "../../../core/roles/role.ts";
import { findRole } from "../../../core/roles/roles.store.ts";
import type { Db } from "../../../db/open.ts";
import type { ConsoleFrame } from "../../../html/components/console-layout.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import type { ConsoleDeps } from "../../../page-kit/page.ts";
import { type RecordPages, type RecordView, recordPages } from "../../../page-kit/record-pages.ts";

export interface RolesDeps extends ConsoleDeps, RecordDeps {}

export interface ShownRole extends Role {
  /** Null: the organisation's own. */
  readonly applicationName: string | null;
}

export type RoleView = RecordView<ShownRole>;

async function findShownRole(db: Db, orgId: string, id: string): Promise<ShownRole | undefined> {
  const role = await findRole(db, { orgId, id });
  if (!role || role.applicationId === null) return role && { ...role, applicationName: null };
  const application = await findApplication(db, orgId, role.applicationId);
  return application && { ...role, applicationName: application.name };
}

/** A built-in role is called as the users' own role that gives it. */
export function roleName(
  { key, name, builtIn }: Pick<Role, "key" | "name" | "builtIn">,
  { console }: Messages,
): string {
  const texts: Readonly<Record<string, string>> = console.users.roles;
  return builtIn && Object.hasOwn(texts, key) ? (texts[key] ?? name) : name;
}

/** An application, or neither: what belongs to the organisation itself. */
export type RoleOwner = Pick<ShownRole, "applicationId" | "applicationName">;

export const organisationItself: RoleOwner = { applicationId: null, applicationName: null };

/** From the list of all roles down to those of the application. */
export const ownerCrumbs = (
  { messages, consoleUri }: ConsoleFrame,
  { applicationId, applicationName }: RoleOwner,
) => [
  { label: messages.console.frame.pages.roles, uri: consoleUri("/roles") },
  ...(applicationName === null
    ? []
    : [{ label: applicationName, uri: consoleUri(`/applications/${applicationId}/roles`) }]),
];

export const rolePages: RecordPages<ShownRole> = {
  ...recordPages<ShownRole>("roles", "/roles", findShownRole, ({ name }) => name),
  crumbs: (frame, role) => [
    ...ownerCrumbs(frame, role),
    { label: role.name, uri: frame.consoleUri(`/roles/${role.id}`) },
  ],
  crumbsAbove: (frame: ConsoleFrame, role?: ShownRole) => ownerCrumbs(frame, role ?? organisationItself),
};
