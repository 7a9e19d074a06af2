/** Opening the service for a command, and finding the records that its arguments name. */
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
import { errorMessage } from "./error-message.ts";

/** The actor of every command in the audit log. */
export const OPERATOR = "operator";

/** Opens the service for one command and always closes it. @returns the command's exit code */
export async function withService(call: Call, work: (service: Service) => Promise<number>): Promise<number> {
  const onError = (error: unknown) => call.io.printError(`signet: ${errorMessage(error)}`);
  const service = await openService(call.config, { onError, around: call.around });
  try {
    return await work(service);
  } finally {
    await service.close();
  }
}

/** Runs the work with a service whose database is one transaction. */
export function inOneTransaction<T>(service: Service, work: (inside: Service) => Promise<T>): Promise<T> {
  return service.database.transaction((tx) =>
    work({ ...service, database: { ...service.database, query: tx, transaction: (inner) => inner(tx) } }),
  );
}

/** The organisation of `--org`, also when disabled. @throws when it doesn't exist */
export async function requireOrganisation(
  { database }: Service,
  values: Values,
  id = requiredText(values, "org"),
): Promise<Organisation> {
  const organisation = await findOrganisation(database.query, id.toLowerCase());
  if (!organisation) throw new Error(`there is no organisation "${id}"`);
  return organisation;
}

/** The application of the positional argument or `--app`. @throws when it isn't in the organisation */
export async function requireApplication(
  { database }: Service,
  organisation: Organisation,
  { values, positionals }: Pick<Call, "values" | "positionals">,
): Promise<Application> {
  const [positional] = positionals;
  if (positional !== undefined && values.app !== undefined)
    throw new UsageError("give the application's ID as argument or with --app, not both");
  const id = positional ?? requiredText(values, "app");
  const application = await findApplication(database.query, organisation.id, id.toLowerCase());
  if (!application) throw new Error(`there is no application "${id}" in this organisation`);
  return application;
}

/** The system account of the positional argument. @throws when it isn't in the organisation */
export async function requireAccount(
  service: Service,
  { values, positionals: [id] }: Pick<Call, "values" | "positionals">,
): Promise<SystemAccount> {
  const organisation = await requireOrganisation(service, values);
  if (id === undefined) throw new UsageError("the ID of the system account is required");
  const account = await findSystemAccount(service.database.query, organisation.id, id.toLowerCase());
  if (!account) throw new Error(`there is no system account "${id}" in this organisation`);
  return account;
}

/** The user of `--id` or `--email`. @throws when not in the organisation */
export async function requireUser(
  { database }: Service,
  organisation: Organisation,
  values: Values,
): Promise<User> {
  const id = optionalText(values, "id");
  const email = optionalText(values, "email");
  if ((id === undefined) === (email === undefined))
    throw new UsageError("either --id or --email is required");
  const user =
    id === undefined
      ? (await findUserByEmail(database.query, organisation.id, emailKey(email ?? "")))?.user
      : await findUser(database.query, organisation.id, id.toLowerCase());
  if (!user) throw new Error(`there is no user "${id ?? email}" in this organisation`);
  return user;
}

/** The user and the home organisation. @throws for a guest: only the home organisation may change an account */
export async function requireHomeUser(
  service: Service,
  { values }: Pick<Call, "values">,
): Promise<{ organisation: Organisation; user: User }> {
  const organisation = await requireOrganisation(service, values);
  const user = await requireUser(service, organisation, values);
  if (user.homeOrgId !== organisation.id)
    throw new Error(`the account belongs to organisation ${user.homeOrgId}: change it there`);
  return { organisation, user };
}

const PAGE = 200;

/** Reads a list page by page, to the end or to `--limit`. */
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
  if (limit < 1) throw new UsageError("--limit must be a whole number, at least 1");
  return limit;
}
