/** What the operators' commands share: an open service, and the records that their options name. */
import type { Application } from "../core/applications/application.ts";
import { findApplication } from "../core/applications/applications.store.ts";
import type { Organisation } from "../core/organisations/organisation.ts";
import { findOrganisation } from "../core/organisations/organisations.store.ts";
import type { SystemAccount } from "../core/system-accounts/system-account.ts";
import { findSystemAccount } from "../core/system-accounts/system-accounts.store.ts";
import { emailKey, type User } from "../core/users/user.ts";
import { findUser, findUserByEmail } from "../core/users/users.store.ts";
import { openService, type Service } from "../modules/open-service.ts";
import { type Call, optionalText, requiredText, UsageError, type Values } from "./command.ts";
import { reasonOf } from "./reason.ts";

/** Who the audit log says it was. */
export const OPERATOR = "operator";

/** Opens the service for one command and closes it, whatever comes. @returns the command's exit code */
export async function withService(call: Call, work: (service: Service) => Promise<number>): Promise<number> {
  const onError = (error: unknown) => call.io.printError(`signet: ${reasonOf(error)}`);
  const service = await openService(call.config, { onError, around: call.around });
  try {
    return await work(service);
  } finally {
    await service.close();
  }
}

/** The organisation of `--org`, disabled or not. @throws when there is none */
export async function organisationOf(
  { database }: Service,
  values: Values,
  id = requiredText(values, "org"),
): Promise<Organisation> {
  const organisation = await findOrganisation(database.query, id.toLowerCase());
  if (!organisation) throw new Error(`there is no organisation "${id}"`);
  return organisation;
}

/** The application of `--app`, or of the only positional argument. @throws when the organisation has none such */
export async function applicationOf(
  { database }: Service,
  organisation: Organisation,
  { values, positionals }: Pick<Call, "values" | "positionals">,
): Promise<Application> {
  const [positional] = positionals;
  if (positional !== undefined && values.app !== undefined)
    throw new UsageError("name the application once: by --app or without it");
  const id = positional ?? requiredText(values, "app");
  const application = await findApplication(database.query, organisation.id, id.toLowerCase());
  if (!application) throw new Error(`there is no application "${id}" in this organisation`);
  return application;
}

/** The system account of the only positional argument. @throws when the organisation has none such */
export async function accountOf(
  { database }: Service,
  organisation: Organisation,
  { positionals: [id] }: Pick<Call, "positionals">,
): Promise<SystemAccount> {
  if (id === undefined) throw new UsageError("name the system account by its ID");
  const account = await findSystemAccount(database.query, organisation.id, id.toLowerCase());
  if (!account) throw new Error(`there is no system account "${id}" in this organisation`);
  return account;
}

/** The user of `--id` or `--email`. @throws when the organisation has none such */
export async function userOf(
  { database }: Service,
  organisation: Organisation,
  values: Values,
): Promise<User> {
  const id = optionalText(values, "id");
  const email = optionalText(values, "email");
  if ((id === undefined) === (email === undefined))
    throw new UsageError("name the user by --id or by --email");
  const user =
    id === undefined
      ? (await findUserByEmail(database.query, organisation.id, emailKey(email ?? "")))?.user
      : await findUser(database.query, organisation.id, id.toLowerCase());
  if (!user) throw new Error(`there is no user "${id ?? email}" in this organisation`);
  return user;
}

const PAGE = 200;

/** Reads a list to its end, or to `--limit`, in pages small enough for the database. */
export async function readAll<Item extends { readonly id: string }>(
  values: Values,
  readPage: (page: { after?: string; limit: number }) => Promise<readonly Item[]>,
): Promise<{ items: Item[]; more: boolean }> {
  const limit = readLimit(values) ?? Number.POSITIVE_INFINITY;
  const items: Item[] = [];
  for (;;) {
    const after = items.at(-1)?.id;
    const page = await readPage({ limit: PAGE, ...(after === undefined ? {} : { after }) });
    items.push(...page);
    if (items.length > limit) return { items: items.slice(0, limit), more: true };
    if (page.length < PAGE) return { items, more: false };
  }
}

/** `--limit`; undefined when absent. @throws UsageError */
export function readLimit(values: Values): number | undefined {
  const text = optionalText(values, "limit");
  if (text === undefined) return undefined;
  const limit = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (limit < 1) throw new UsageError("--limit must be a whole number from 1");
  return limit;
}
