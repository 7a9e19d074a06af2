/** What the commands on users share: their output, without password hashes, and new passwords. */
import { generatePassword } from "../../core/passwords/password-hasher.ts";
import type { User } from "../../core/users/user.ts";
import { findUser } from "../../core/users/users.store.ts";
import { type Options, type OrganisationCall, UsageError } from "../command.ts";
import { fields, formatTime, formatTimeOrNull, printResult } from "../output.ts";

export const userRecord = (user: User) => ({
  id: user.id,
  email: user.email,
  emailVerified: user.emailVerified,
  firstname: user.firstname,
  surname: user.surname,
  phone: user.phone,
  locale: user.locale,
  ...user.details,
  role: user.role,
  createdAt: formatTime(user.createdAt),
  disabledAt: formatTimeOrNull(user.disabledAt),
});

/** @param done outcome, printed after the email address. @param password a generated one, shown once */
export async function printUser(
  call: OrganisationCall,
  id: string,
  done: string,
  password?: string,
): Promise<number> {
  const user = await findUser(call.service.database.query, call.organisation.id, id);
  if (!user) throw new Error("the user no longer exists");
  return printResult(call, { ...userRecord(user), ...(password === undefined ? {} : { password }) }, () => [
    `${user.email} ${done}.`,
    ...fields({ id: user.id, role: user.role, password }),
    ...(password === undefined ? [] : ["Copy the password now: Signet can't show it again."]),
  ]);
}

export const generateOption: Options = {
  generate: { help: "generate a password and show it once" },
};

/**
 * Passwords are typed, piped in or generated; never an argument, which other processes can read.
 * @returns the password, and in `toShow` when it was generated
 */
export async function newPassword({
  values,
  io,
  organisation,
}: OrganisationCall): Promise<{ text: string; toShow?: string }> {
  if (values.generate) {
    const text = generatePassword(organisation.settings);
    return { text, toShow: text };
  }
  const text = await io.readSecret("New password");
  if (text === "") throw new UsageError("a password is required: type it, pipe it in, or add --generate");
  return { text };
}
