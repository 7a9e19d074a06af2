/** Opening the service for a command, and finding the records that its arguments name. */
import type { Application } from "../core/applications/application.ts";
import { findApplication } from "../core/applications/applications.store.ts";
import type { Organisation } from "../core/organisations/organisation.ts";
import { findOrganisation, listOrganisations } from "../core/organisations/organisations.store.ts";
import { emailKey, type User } from "../core/users/user.ts";
import { findUser, findUserByEmail } from "../core/users/users.store.ts";
import type { Db } from "../db/open.ts";
import { openService, type Service } from "../modules/open-service.ts";
import {
  type Call,
  type OrganisationCall,
  optionalText,
  requiredText,
  UsageError,
  type Values,
} from "./command.ts";
import { asServed, requireInstallation } from "./installation.ts";
import { errorMessage } from "./output.ts";

/** The actor of every command in the audit log. */
export const OPERATOR = "operator";

/**
 * Opens the service for one command and always closes it. Where neither the environment nor the command says otherwise, there
 * must be an installation, and its server's base URL is used; what a demo takes, its commands take.
 * @returns the command's exit code
 */
export async function withService(
  call: Call,
  work: (service: Service, call: Call) => Promise<number>,
  { mayBegin = false }: { readonly mayBegin?: boolean | undefined } = {},
): Promise<number> {
  if (!mayBegin) await requireInstallation(call.config);
  const { config, isDemo } = await asServed(call.config);
  const here = { ...call, config };
  const onError = (error: unknown) => call.io.printError(`signet: ${errorMessage(error)}`);
  const service = await openService(config, { onError, around: call.around, isDemo });
  try {
    return await work(service, here);
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

/** The organisation of `--org`, also when disabled; the only one for commands that don't require it. @throws when it doesn't exist */
export async function requireOrganisation(
  { database }: Service,
  values: Values,
  id = optionalText(values, "org"),
): Promise<Organisation> {
  if (id === undefined) return onlyOrganisation(database.query);
  const organisation = await findOrganisation(database.query, id.toLowerCase());
  if (!organisation) throw new Error(`there is no organisation "${id}"`);
  return organisation;
}

async function onlyOrganisation(db: Db): Promise<Organisation> {
  const [only, another] = await listOrganisations(db, { limit: 2 });
  if (!only) throw new Error("there is no organisation: run signet org create");
  if (another) throw new UsageError("--org is required: there are several organisations (signet org list)");
  return only;
}

/** The organisation of `--org`: that there is none is told once it is used, after any fault of the other options. */
export async function organisationCall(call: Call, service: Service): Promise<OrganisationCall> {
  const found = await requireOrganisation(service, call.values).catch((error: Error) => error);
  const inOrganisation: OrganisationCall = {
    ...call,
    service,
    get organisation() {
      if (found instanceof Error) throw found;
      return found;
    },
    get by() {
      return { orgId: this.organisation.id, actor: OPERATOR };
    },
  };
  return inOrganisation;
}

/** The positional argument. @throws UsageError */
export function requireArgument(
  { positionals: [argument] }: Pick<Call, "positionals">,
  what: string,
): string {
  if (argument === undefined) throw new UsageError(`${what} is required`);
  return argument;
}

/** The record that the positional argument names by its ID. @throws when it isn't in the organisation */
export async function requireRecord<T>(
  call: OrganisationCall,
  noun: string,
  find: (id: string) => Promise<T | undefined>,
): Promise<T> {
  const id = requireArgument(call, `the ID of the ${noun}`);
  const record = await find(id.toLowerCase());
  if (!record) throw new Error(`there is no ${noun} "${id}" in this organisation`);
  return record;
}

/** The application of the positional argument or `--app`. @throws when it isn't in the organisation */
export function requireApplication(call: OrganisationCall): Promise<Application> {
  const [positional] = call.positionals;
  if (positional !== undefined && call.values.app !== undefined)
    throw new UsageError("give the application's ID as argument or with --app, not both");
  return findNamedApplication(call, positional ?? requiredText(call.values, "app"));
}

/** The application of `--app`, where the positional argument names another record. */
export const requireNamedApplication = (call: OrganisationCall): Promise<Application> =>
  findNamedApplication(call, requiredText(call.values, "app"));

async function findNamedApplication(
  { service, organisation }: OrganisationCall,
  id: string,
): Promise<Application> {
  const application = await findApplication(service.database.query, organisation.id, id.toLowerCase());
  if (!application) throw new Error(`there is no application "${id}" in this organisation`);
  return application;
}

/** The user of `--id` or `--email`. @throws when not in the organisation */
export async function requireUser(call: OrganisationCall): Promise<User> {
  const id = optionalText(call.values, "id");
  const email = optionalText(call.values, "email");
  if ((id === undefined) === (email === undefined))
    throw new UsageError("either --id or --email is required");
  const { service, organisation } = call;
  const { query } = service.database;
  const user =
    id === undefined
      ? (await findUserByEmail(query, organisation.id, emailKey(email ?? "")))?.user
      : await findUser(query, organisation.id, id.toLowerCase());
  if (!user) throw new Error(`there is no user "${id ?? email}" in this organisation`);
  return user;
}

/** @throws for a guest: only the home organisation may change an account */
export async function requireHomeUser(call: OrganisationCall): Promise<User> {
  const user = await requireUser(call);
  requireHome(call, user);
  return user;
}

/** @throws for a guest */
export function requireHome({ organisation }: OrganisationCall, { homeOrgId }: User): void {
  if (homeOrgId !== organisation.id)
    throw new Error(`the account belongs to organisation ${homeOrgId}: change it there`);
}

const PAGE = 200;

/** A list of the organisation, to the end or to `--limit`. */
export const readList = <Item extends { readonly id: string }>(
  call: OrganisationCall,
  list: (db: Db, orgId: string, page: { after?: string; limit: number }) => Promise<readonly Item[]>,
) => readAll(call.values, (page) => list(call.service.database.query, call.organisation.id, page));

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
