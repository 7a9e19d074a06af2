/** A user as operators see it; never a password's hash. */

import type { User } from "../../core/users/user.ts";
import { findUser } from "../../core/users/users.store.ts";
import type { Service } from "../../modules/open-service.ts";
import { answer, fields, time, timeOrNull } from "../answer.ts";
import type { Call } from "../command.ts";

export const userRecord = (user: User) => ({
  id: user.id,
  email: user.email,
  emailVerified: user.emailVerified,
  firstname: user.firstname,
  surname: user.surname,
  phone: user.phone,
  role: user.role,
  createdAt: time(user.createdAt),
  disabledAt: timeOrNull(user.disabledAt),
});

/**
 * @param password shown, this once
 * @param done what has been done, after the address
 */
export async function answerUser(
  call: Call,
  { database }: Service,
  key: { orgId: string; id: string },
  password: string | undefined,
  done: string,
): Promise<number> {
  const user = await findUser(database.query, key.orgId, key.id);
  if (!user) throw new Error("the user is gone");
  return answer(call, { ...userRecord(user), ...(password === undefined ? {} : { password }) }, () => [
    `${user.email} ${done}.`,
    ...fields({ id: user.id, role: user.role, password }),
    ...(password === undefined ? [] : ["The password is not shown again."]),
  ]);
}
