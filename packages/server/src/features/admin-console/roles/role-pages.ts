/** Where the pages of roles are. They stand below their application. */
import { findApplication } from "../../../core/applications/applications.store.ts";
import type { RecordDeps } from "../../../core/record-changes.ts";
import type { Role } from "../../../core/roles/role.ts";
import { findRole } from "../../../core/roles/roles.store.ts";
import type { Db } from "../../../db/open.ts";
import type { ConsoleFrame } from "../../../html/components/console-layout.ts";
import type { ConsoleDeps } from "../../../page-kit/page.ts";
import { type RecordPages, type RecordView, recordPages } from "../../../page-kit/record-pages.ts";

export interface RolesDeps extends ConsoleDeps, RecordDeps {}

export interface ApplicationRole extends Role {
  readonly applicationId: string;
  readonly applicationName: string;
}

export type RoleView = RecordView<ApplicationRole>;

/** Of an application alone: the organisation's own are given by a user's role. */
async function findApplicationRole(db: Db, orgId: string, id: string): Promise<ApplicationRole | undefined> {
  const role = await findRole(db, { orgId, id });
  if (!role || role.applicationId === null) return undefined;
  const application = await findApplication(db, orgId, role.applicationId);
  return application && { ...role, applicationId: application.id, applicationName: application.name };
}

type Above = Pick<ApplicationRole, "applicationId" | "applicationName">;

/** From the list of applications down to the roles of this one. */
export const applicationCrumbs = (
  { messages, consoleUri }: ConsoleFrame,
  { applicationId, applicationName }: Above,
) => [
  { label: messages.console.frame.pages.applications, uri: consoleUri("/applications") },
  { label: applicationName, uri: consoleUri(`/applications/${applicationId}/roles`) },
];

export const rolePages: RecordPages<ApplicationRole> = {
  ...recordPages<ApplicationRole>("applications", "/roles", findApplicationRole, ({ name }) => name),
  crumbs: (frame, role) => [
    ...applicationCrumbs(frame, role),
    { label: role.name, uri: frame.consoleUri(`/roles/${role.id}`) },
  ],
  crumbsAbove: (frame: ConsoleFrame, role?: ApplicationRole) => (role ? applicationCrumbs(frame, role) : []),
};
