/** Which organisation somebody belongs to: by a domain that one of them has proven, or else by mail, which tells the page nothing. */
import type { Application } from "../../../core/applications/application.ts";
import { recordAuditEvent } from "../../../core/audit/audit.store.ts";
import { domainOf } from "../../../core/domains/domain.ts";
import {
  findOrganisationsOfAddress,
  findOrganisationsOfDomain,
} from "../../../core/shared-applications/common-entry.store.ts";
import { emailKey } from "../../../core/users/user.ts";
import type { BrowserDeps } from "../authorize/browser.ts";

/** The one organisation with the application that has proven the address's domain; undefined for none, and for several. */
export async function organisationOfDomain(
  { database }: Pick<BrowserDeps, "database">,
  application: Application,
  email: string,
): Promise<string | undefined> {
  const domain = domainOf(email);
  if (domain === undefined) return undefined;
  const found = await findOrganisationsOfDomain(database.query, application, domain);
  return found.length === 1 ? found[0] : undefined;
}

/** The same work for every address: what is not a mail is a decoy. */
const MAILS = 5;
const LINK_MS = 60 * 60_000;

/** A mail from each organisation with the application that has the address, five at most. */
export async function mailOrganisations(
  { database, clock, outbox }: Pick<BrowserDeps, "database" | "clock" | "outbox">,
  application: Application,
  {
    email,
    locale,
    address,
    uriAt,
  }: {
    readonly email: string;
    readonly locale: string;
    /** Of who asks. */
    readonly address: string;
    uriAt(orgId: string): string;
  },
): Promise<void> {
  const found = await findOrganisationsOfAddress(database.query, application, emailKey(email), MAILS);
  const orgIds: Array<string | undefined> = [...found];
  while (orgIds.length < MAILS) orgIds.push(undefined);
  const expiresAt = clock() + LINK_MS;
  await database.transaction(async (tx) => {
    await recordAuditEvent(tx, {
      ...{ orgId: application.orgId, at: clock(), actor: "anonymous", address },
      ...{ action: "organisation-link.sent", target: application.id },
    });
    for (const orgId of orgIds)
      await outbox.put(tx, {
        ...{ orgId: orgId ?? application.orgId, recipient: email, locale, isDecoy: orgId === undefined },
        mail: {
          template: "SignInAtOrganisation",
          data: { link: uriAt(orgId ?? application.orgId), expiresAt },
        },
      });
  });
}
