/** The applications that a user may open: enabled, permitted, with a home page. Sorted by name. */
import { usableBy } from "../../../core/application-access/application-access.ts";
import type { Application } from "../../../core/applications/application.ts";
import { listEnabledApplications } from "../../../core/applications/applications.store.ts";
import type { Db } from "../../../db/open.ts";

export interface UsableApplication {
  readonly id: string;
  readonly name: string;
  readonly description: string | undefined;
  readonly homepageUri: string;
  readonly logoUri: string | undefined;
}

const PAGE = 200;
/** Further ones are found by the links that their users have. */
const MAX_READ = 2_000;
const loopbackHosts: readonly string[] = ["127.0.0.1", "[::1]", "localhost"];

/** https, or http on this computer: nobody is sent to a page that anybody on the way can replace. */
export function isOpenableHomepage(uri: string | undefined): uri is string {
  const url = URL.parse(uri ?? "");
  if (url?.username !== "" || url.password !== "") return false;
  return url.protocol === "https:" || (url.protocol === "http:" && loopbackHosts.includes(url.hostname));
}

/** @param locale of the reader, for the order of the names */
export async function listUsableApplications(
  db: Db,
  { orgId, userId, locale }: { readonly orgId: string; readonly userId: string; readonly locale: string },
): Promise<UsableApplication[]> {
  const usable: UsableApplication[] = [];
  let after = "";
  for (let read = 0; read < MAX_READ; read += PAGE) {
    const page = await listEnabledApplications(db, orgId, { after, limit: PAGE });
    const openable = page.filter(({ settings }) => isOpenableHomepage(settings.homepageUri));
    const permitted = await usableBy(db, openable, { orgId, userId });
    usable.push(...permitted.flatMap((application) => toUsable(application) ?? []));
    if (page.length < PAGE) break;
    after = page.at(-1)?.id ?? "";
  }
  const { compare } = new Intl.Collator(locale);
  return usable.toSorted((one, other) => compare(one.name, other.name) || compare(one.id, other.id));
}

function toUsable({ id, name, settings }: Application): UsableApplication | undefined {
  const { homepageUri, description, logoUri } = settings;
  return isOpenableHomepage(homepageUri) ? { id, name, description, homepageUri, logoUri } : undefined;
}

/** Each word of the search in the name or the description. */
export function matchingApplications(
  applications: readonly UsableApplication[],
  search: string,
): UsableApplication[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  return applications.filter(({ name, description = "" }) => {
    const text = `${name} ${description}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
}
