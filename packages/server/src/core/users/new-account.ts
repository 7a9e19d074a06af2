/** A user whom a program adds: with a password, or with none yet, and without a mail. */
import { recordAuditEvent } from "../audit/audit.store.ts";
import { emailKey } from "./user.ts";
import { insertUser } from "./users.store.ts";
import {
  createUser,
  InvalidUser,
  type NewUser,
  newPermId,
  requireEmail,
  requireNames,
  roleDetails,
  type UserDeps,
} from "./users.ts";

/** @returns the PermId. @throws InvalidUser */
export async function addUser(
  deps: UserDeps,
  { password, ...input }: Omit<NewUser, "password"> & { readonly password?: string | undefined },
): Promise<string> {
  if (password !== undefined) return createUser(deps, { ...input, password });
  const { organisation, firstname, surname, role, locale = null, actor, address } = input;
  const email = requireEmail(input.email);
  requireNames(input);
  const [id, now, orgId] = [newPermId(), deps.clock(), organisation.id];
  await deps.database.transaction(async (tx) => {
    const emailVerifiedAt = input.emailVerified ? now : null;
    const account = { orgId, id, email, emailKey: emailKey(email), emailVerifiedAt, passwordHash: null };
    const person = { firstname, surname, phone: null, role, locale };
    if (!(await insertUser(tx, { ...account, ...person, now }))) throw new InvalidUser("email-taken");
    const event = { orgId, at: now, actor, action: "user.created", target: id, address } as const;
    await recordAuditEvent(tx, { ...event, ...roleDetails(role) });
  });
  return id;
}
