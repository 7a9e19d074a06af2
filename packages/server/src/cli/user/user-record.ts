/** Output of users, without password hashes. */
import type { User } from "../../core/users/user.ts";
import { findUser } from "../../core/users/users.store.ts";
import type { Service } from "../../modules/open-service.ts";
import type { Call } from "../command.ts";
import { fields, formatTime, formatTimeOrNull, printResult } from "../output.ts";

export const userRecord = (user: User) => ({
  id: user.id,
  email: user.email,
  emailVerified: user.emailVerified,
  firstname: user.firstname,
  surname: user.surname,
  phone: user.phone,
  role: user.role,
  createdAt: formatTime(user.createdAt),
  disabledAt: formatTimeOrNull(user.disabledAt),
});

/** @param password a generated one, shown once. @param done outcome, printed after the email address */
export async function printUser(
  call: Call,
  { database }: Service,
  key: { orgId: string; id: string },
  password: string | undefined,
  done: string,
): Promise<number> {
  const user = await findUser(database.query, key.orgId, key.id);
  if (!user) throw new Error("the user no longer exists");
  return printResult(call, { ...userRecord(user), ...(password === undefined ? {} : { password }) }, () => [
    `${user.email} ${done}.`,
    ...fields({ id: user.id, role: user.role, password }),
    ...(password === undefined ? [] : ["Copy the password now: Signet can't show it again."]),
  ]);
}
