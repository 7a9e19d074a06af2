/** The application in an address, and the addresses of its pages. */
import { isUuid } from "@signet/protocol/hash";
import type { Application } from "../../../core/applications/application.ts";
import { findApplication } from "../../../core/applications/applications.store.ts";
import type { Organisation } from "../../../core/organisations/organisation.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { NotFound } from "../../../http/errors.ts";
import { type ConsoleDeps, consolePath, type Visit } from "../../../page-kit/visit.ts";

type Named = Pick<Organisation, "id">;

/** Below the console, for acts that go on from there. */
export const applicationRest = (id: string, rest = ""): string => `/applications/${id}${rest}`;

export const applicationPath = (organisation: Named, id: string, rest = ""): string =>
  consolePath(organisation, applicationRest(id, rest));

/** @throws NotFound for what is no id */
export function idIn({ request }: Pick<Visit, "request">, name = "id"): string {
  const id = (request.params as Record<string, string>)[name] ?? "";
  if (!isUuid(id)) throw new NotFound("record");
  return id.toLowerCase();
}

/** With its secrets. @throws NotFound */
export async function applicationHere(
  { database }: Pick<ConsoleDeps, "database">,
  visit: Visit,
): Promise<Application> {
  const found = await findApplication(database.query, visit.organisation.id, idIn(visit));
  if (!found) throw new NotFound("application");
  return found;
}

export const listCrumb = (organisation: Named, { console: { frame } }: Messages) => ({
  label: frame.pages.applications,
  uri: consolePath(organisation, "/applications"),
});

/** For pages below a record's own. */
export const recordCrumbs = (
  organisation: Named,
  { id, name }: Pick<Application, "id" | "name">,
  messages: Messages,
) => [listCrumb(organisation, messages), { label: name, uri: applicationPath(organisation, id) }];
