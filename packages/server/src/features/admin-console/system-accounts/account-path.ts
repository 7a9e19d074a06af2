/** The system account in an address, and the addresses of its pages. */
import { isUuid } from "@signet/protocol/hash";
import type { Encryption } from "../../../core/encryption/encryption.ts";
import type { Organisation } from "../../../core/organisations/organisation.ts";
import type { SystemAccount } from "../../../core/system-accounts/system-account.ts";
import { findSystemAccount } from "../../../core/system-accounts/system-accounts.store.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { NotFound } from "../../../http/errors.ts";
import { type ConsoleDeps, consolePath, requireId, type Visit } from "../../../page-kit/page.ts";

export interface AccountsDeps extends ConsoleDeps {
  /** Encrypts the secret keys. */
  readonly encryption: Encryption;
}

type OrganisationId = Pick<Organisation, "id">;

export const accountPath = (organisation: OrganisationId, id: string, rest = ""): string =>
  consolePath(organisation, `/system-accounts/${id}${rest}`);

export async function findAccount(
  { database }: Pick<ConsoleDeps, "database">,
  organisation: OrganisationId,
  { id = "" }: Readonly<Record<string, string>>,
): Promise<SystemAccount | undefined> {
  return isUuid(id) ? findSystemAccount(database.query, organisation.id, id) : undefined;
}

/** @throws NotFound */
export async function requireAccount(
  deps: Pick<ConsoleDeps, "database">,
  visit: Visit,
): Promise<SystemAccount> {
  const account = await findAccount(deps, visit.organisation, { id: requireId(visit) });
  if (!account) throw new NotFound("system account");
  return account;
}

export const listCrumb = (organisation: OrganisationId, { console: { frame } }: Messages) => ({
  label: frame.pages.systemAccounts,
  uri: consolePath(organisation, "/system-accounts"),
});

/** For pages below an account's own. */
export const accountCrumbs = (
  organisation: OrganisationId,
  { id, name }: SystemAccount,
  messages: Messages,
) => [listCrumb(organisation, messages), { label: name, uri: accountPath(organisation, id) }];
