/** The application in an address, and the addresses of its pages. */
import type { Application } from "../../../core/applications/application.ts";
import { findApplication } from "../../../core/applications/applications.store.ts";
import type { Organisation } from "../../../core/organisations/organisation.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { NotFound } from "../../../http/errors.ts";
import { type ConsoleDeps, consolePath, requireId, type Visit } from "../../../page-kit/page.ts";

type OrganisationId = Pick<Organisation, "id">;

export const applicationPath = (organisation: OrganisationId, id: string, rest = ""): string =>
  consolePath(organisation, `/applications/${id}${rest}`);

/** With its secrets. @throws NotFound */
export async function requireApplication(
  { database }: Pick<ConsoleDeps, "database">,
  visit: Visit,
): Promise<Application> {
  const application = await findApplication(database.query, visit.organisation.id, requireId(visit));
  if (!application) throw new NotFound("application");
  return application;
}

export const listCrumb = (organisation: OrganisationId, { console: { frame } }: Messages) => ({
  label: frame.pages.applications,
  uri: consolePath(organisation, "/applications"),
});

/** For pages below a record's own. */
export const recordCrumbs = (
  organisation: OrganisationId,
  { id, name }: Pick<Application, "id" | "name">,
  messages: Messages,
) => [listCrumb(organisation, messages), { label: name, uri: applicationPath(organisation, id) }];
