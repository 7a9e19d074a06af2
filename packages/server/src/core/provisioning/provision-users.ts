/** Makes, changes and ends the users of a connection: the account and the resource together, or neither. */
import { fault, type Resource, ScimFault } from "@signet/protocol/scim/attribute";
import type { Db } from "../../db/open.ts";
import { auditFields, recordAuditEvent } from "../audit/audit.store.ts";
import { lockUserAccount, setEmailVerified } from "../users/account.store.ts";
import { setVerifiedEmail } from "../users/account-mails.ts";
import { deleteUser } from "../users/leaving/delete-user.ts";
import { areAttributes, changeMemberRecord } from "../users/member-record.ts";
import { changeProfile } from "../users/profile/profile.ts";
import { emailKey, type User } from "../users/user.ts";
import { findUser, insertUser } from "../users/users.store.ts";
import { InvalidUser, newPermId, setUserStatus } from "../users/users.ts";
import {
  accountOf,
  emailsOf,
  type ProvisionedAccount,
  withDetails,
  withEnterprise,
} from "./account-of-resource.ts";
import { actOf, inTransaction, type ProvisionDeps, type Provisioning } from "./provision-transaction.ts";
import { leaveGroups } from "./scim-members.store.ts";
import {
  type ConnectionOf,
  findByUserName,
  findClash,
  findScimUser,
  findVisible,
  markDeleted,
  type ProvisionedRow,
  putScimUser,
  type ScimUser,
  userNameKey,
} from "./scim-users.store.ts";

const IDENTIFIERS = "userName, email address or externalId";
const MAX_RESOURCE = 100_000;
/** Bytes of what an index holds: PostgreSQL's rows of one have at most 2,704, with the ids beside it. */
const MAX_KEY = 2_000;

/** Takes up a user again whom the client deleted and whose account stayed. @throws ScimFault */
export function createScimUser(
  deps: ProvisionDeps,
  by: Provisioning,
  resource: Resource,
): Promise<ProvisionedRow> {
  const account = accountOf(resource);
  return inTransaction(deps, IDENTIFIERS, async (inside) => {
    const tx = inside.database.query;
    const where = { orgId: by.connection.orgId, connectionId: by.connection.id };
    const known = await lockByUserName(inside, where, String(resource["userName"]));
    if (known && known.deletedAt === null) throw taken("userName");
    const id = known?.userId ?? (await insertAccount(inside, by, account));
    await writeUser(inside, by, { id, resource, account, isNew: known === undefined });
    return requireVisible(tx, by, id);
  });
}

/** Of two that take the same user up again, the second finds that the first has. */
async function lockByUserName(
  { database: { query: tx }, clock }: ProvisionDeps,
  where: ConnectionOf,
  userName: string,
): Promise<ScimUser | undefined> {
  const known = await findByUserName(tx, where, userName);
  if (!known) return undefined;
  await lockUserAccount(tx, { homeOrgId: where.orgId, id: known.userId }, clock());
  return findByUserName(tx, where, userName);
}

/** @param change makes the new resource from the present one. @throws ScimFault; 404 for a user whom the connection does not see */
export function changeScimUser(
  deps: ProvisionDeps,
  by: Provisioning,
  {
    id,
    change,
  }: { readonly id: string; readonly change: (row: ProvisionedRow, tx: Db) => Promise<Resource> },
): Promise<ProvisionedRow> {
  return inTransaction(deps, IDENTIFIERS, async (inside) => {
    const tx = inside.database.query;
    const where = { orgId: by.connection.orgId, connectionId: by.connection.id };
    await lockUserAccount(tx, { homeOrgId: where.orgId, id }, inside.clock());
    const row = await findVisible(tx, where, id);
    if (!row) throw noSuchUser();
    const resource = await change(row, tx);
    await writeUser(inside, by, { id, resource, account: accountOf(resource) });
    return requireVisible(tx, by, id);
  });
}

/** As the connection's policy says: the account goes, or it stays, disabled. @throws ScimFault */
export function deleteScimUser(
  deps: ProvisionDeps,
  by: Provisioning,
  { id, check }: { readonly id: string; readonly check: (row: ProvisionedRow, tx: Db) => Promise<void> },
): Promise<void> {
  return inTransaction(deps, IDENTIFIERS, async (inside) => {
    const tx = inside.database.query;
    const { orgId, id: connectionId, deletionPolicy } = by.connection;
    if (deletionPolicy === "disable") await lockUserAccount(tx, { homeOrgId: orgId, id }, inside.clock());
    const row = await findVisible(tx, { orgId, connectionId }, id);
    if (!row) throw noSuchUser();
    await check(row, tx);
    const act = actOf(by);
    if (deletionPolicy === "delete") {
      if (!(await deleteUser(inside, { ...act, id }))) throw noSuchUser();
      return;
    }
    // Of a user of the organisation's own, too, what is taken up again later has to be known.
    if (row.resource === null) await takeOver(inside, by, row);
    await setUserStatus(inside, { ...act, id, disabled: true });
    const now = inside.clock();
    await markDeleted(tx, { orgId, userId: id, now });
    // Whoever is not there is in no group, and does not come back into it with a POST of the name.
    if (await leaveGroups(tx, { orgId, connectionId }, id))
      await inside.changes.publish(tx, { orgId, topic: "entitlement" });
    await recordAuditEvent(tx, { ...auditFields(act, now), action: "user.deprovisioned", target: id });
  });
}

const takeOver = (inside: ProvisionDeps, { connection }: Provisioning, row: ProvisionedRow): Promise<void> =>
  putScimUser(inside.database.query, {
    ...{ orgId: connection.orgId, userId: row.id, connectionId: connection.id, userName: row.email },
    ...{ externalId: null, resource: JSON.stringify({ userName: row.email }), emails: [], deletedAt: null },
    updatedAt: inside.clock(),
  });

export const noSuchUser = () => new ScimFault(404, undefined, "There is no such user.");
const taken = (what: string) => fault("uniqueness", `Another user has this ${what}.`);

async function requireVisible(tx: Db, { connection }: Provisioning, id: string): Promise<ProvisionedRow> {
  const row = await findVisible(tx, { orgId: connection.orgId, connectionId: connection.id }, id);
  if (!row) throw noSuchUser();
  return row;
}

async function insertAccount(
  { database: { query: tx }, clock }: ProvisionDeps,
  by: Provisioning,
  { email, profile, active }: ProvisionedAccount,
): Promise<string> {
  const now = clock();
  const { orgId } = by.connection;
  const id = newPermId();
  const { firstname, surname, phone, locale } = profile;
  const account = { orgId, id, email, emailKey: emailKey(email), emailVerifiedAt: now, passwordHash: null };
  const person = { firstname, surname, phone, locale, role: "Standard" as const };
  const status = { disabledAt: active ? null : now, now };
  if (!(await insertUser(tx, { ...account, ...person, ...status }))) throw taken("email address");
  await recordAuditEvent(tx, { ...auditFields(actOf(by), now), action: "user.created", target: id });
  return id;
}

interface Written {
  readonly id: string;
  readonly resource: Resource;
  readonly account: ProvisionedAccount;
  /** The account has just been made of it, but for its details and attributes. */
  readonly isNew?: boolean;
}

/** The account has been locked, or made. */
async function writeUser(
  inside: ProvisionDeps,
  by: Provisioning,
  { id, resource, account, isNew = false }: Written,
): Promise<void> {
  const tx = inside.database.query;
  const { orgId, id: connectionId } = by.connection;
  const text = JSON.stringify(resource);
  if (text.length > MAX_RESOURCE)
    throw fault("invalidValue", `A user has at most ${MAX_RESOURCE} characters of JSON.`);
  const userName = String(resource["userName"]);
  const externalId = typeof resource["externalId"] === "string" ? resource["externalId"] : null;
  if (Buffer.byteLength(userNameKey(userName)) > MAX_KEY || Buffer.byteLength(externalId ?? "") > MAX_KEY)
    throw fault("invalidValue", `userName and externalId have at most ${MAX_KEY} bytes.`);
  const clash = await findClash(tx, { orgId, connectionId }, { userId: id, userName, externalId });
  if (clash) throw taken(clash);
  const before = isNew ? undefined : await findScimUser(tx, orgId, id);
  if (!isNew || hasMore(account)) {
    const user = await findUser(tx, orgId, id);
    if (!user) throw noSuchUser();
    await writeAccount(inside, by, { user, before: readBefore(before?.resource) }, account);
  }
  const now = inside.clock();
  if (before?.resource === text && before.deletedAt === null) return;
  const changed = changedMembers(before?.resource, resource);
  const event = { action: "user.provisioned" as const, target: id, details: { changed } };
  await recordAuditEvent(tx, { ...auditFields(actOf(by), now), ...event });
  const key = { orgId, userId: id, connectionId, emails: emailsOf(resource) };
  await putScimUser(tx, { ...key, userName, externalId, resource: text, deletedAt: null, updatedAt: now });
}

/** Than what an account is made with. */
const hasMore = ({ profile, attributes }: ProvisionedAccount): boolean =>
  Object.keys(profile.details).length > 0 || Object.keys(attributes).length > 0;

const readBefore = (text: string | undefined): Resource =>
  text === undefined ? {} : (JSON.parse(text) as Resource);

/** Names alone: the audit log outlives the account. */
function changedMembers(before: string | undefined, resource: Resource): string[] {
  const old = readBefore(before);
  const names = new Set([...Object.keys(old), ...Object.keys(resource)]);
  return [...names].filter((name) => JSON.stringify(old[name]) !== JSON.stringify(resource[name]));
}

async function writeAccount(
  inside: ProvisionDeps,
  by: Provisioning,
  { user, before }: { readonly user: User; readonly before: Resource },
  { email, profile, attributes, active }: ProvisionedAccount,
): Promise<void> {
  const tx = inside.database.query;
  const now = inside.clock();
  const act = actOf(by);
  const { orgId, id } = user;
  await writeEmail(inside, by, user, email);
  const details = withDetails(user.details, profile.details, before);
  await changeProfile(inside, { ...act, id, profile: { ...profile, details } });
  const wanted = withEnterprise(user.attributes, attributes, before);
  if (JSON.stringify(wanted) !== JSON.stringify(user.attributes)) {
    if (!areAttributes(wanted)) throw fault("invalidValue", "The enterprise members are too long.");
    await changeMemberRecord(inside, { ...act, id, record: { attributes: wanted } });
  }
  if (active === (user.disabledAt === null)) return;
  await setUserStatus(inside, { ...act, id, disabled: !active });
  await lockUserAccount(tx, { homeOrgId: orgId, id }, now);
}

/** The directory's word proves it. The address before is told, as whoever vouches for a new one. */
async function writeEmail(inside: ProvisionDeps, by: Provisioning, user: User, email: string): Promise<void> {
  const act = actOf(by);
  if (user.email !== email) {
    requireNoAdministrator(user);
    await setVerifiedEmail(inside, user, { newEmail: email, ...act }).catch((error: unknown) => {
      throw error instanceof InvalidUser ? taken("email address") : error;
    });
    return;
  }
  const { orgId, id } = user;
  const now = inside.clock();
  if (!(await setEmailVerified(inside.database.query, { orgId, id, email }, now))) return;
  await recordAuditEvent(inside.database.query, {
    ...auditFields(act, now),
    action: "email.verified",
    target: id,
  });
}

/**
 * Where the address leads, a new password goes: a directory's token would be worth as much as the administrator's own.
 * @throws ScimFault 403
 */
function requireNoAdministrator({ role }: User): void {
  if (role !== "Administrator") return;
  throw new ScimFault(403, undefined, "An administrator's email address is changed in the console alone.");
}
