/** The system account in an address, and the addresses of its pages. */
import { isUuid } from "@signet/protocol/hash";
import type { Encryption } from "../../../core/encryption/encryption.ts";
import type { Organisation } from "../../../core/organisations/organisation.ts";
import type { SystemAccount } from "../../../core/system-accounts/system-account.ts";
import { findSystemAccount } from "../../../core/system-accounts/system-accounts.store.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { NotFound } from "../../../http/errors.ts";
import { type ConsoleDeps, consolePath, type Visit } from "../../../page-kit/visit.ts";

export interface AccountsDeps extends ConsoleDeps {
  /** Seals the secret keys. */
  readonly encryption: Encryption;
}

type Named = Pick<Organisation, "id">;

/** Below the console, for acts that go on from there. */
export const accountRest = (id: string, rest = ""): string => `/system-accounts/${id}${rest}`;

export const accountPath = (organisation: Named, id: string, rest = ""): string =>
  consolePath(organisation, accountRest(id, rest));

/** @throws NotFound for what is no id */
export function idIn({ request }: Pick<Visit, "request">): string {
  const { id = "" } = request.params as Record<string, string>;
  if (!isUuid(id)) throw new NotFound("system account");
  return id.toLowerCase();
}

/** @returns undefined for what is no id, and for what the organisation has not got */
export async function findAccount(
  { database }: Pick<ConsoleDeps, "database">,
  organisation: Named,
  id: string | undefined,
): Promise<SystemAccount | undefined> {
  return id !== undefined && isUuid(id) ? findSystemAccount(database.query, organisation.id, id) : undefined;
}

/** @throws NotFound */
export async function accountHere(deps: Pick<ConsoleDeps, "database">, visit: Visit): Promise<SystemAccount> {
  const account = await findAccount(deps, visit.organisation, idIn(visit));
  if (!account) throw new NotFound("system account");
  return account;
}

export const listCrumb = (organisation: Named, { console: { frame } }: Messages) => ({
  label: frame.pages.systemAccounts,
  uri: consolePath(organisation, "/system-accounts"),
});

/** For pages below an account's own. */
export const accountCrumbs = (organisation: Named, { id, name }: SystemAccount, messages: Messages) => [
  listCrumb(organisation, messages),
  { label: name, uri: accountPath(organisation, id) },
];
