/** `signet user create`. */

import { emailKey, isEmail, type Role } from "../../core/users/user.ts";
import { findUserByEmail } from "../../core/users/users.store.ts";
import { createUser, InvalidUser } from "../../core/users/users.ts";
import type { Service } from "../../modules/open-service.ts";
import {
  type Call,
  type Command,
  choice,
  jsonOption,
  optionalText,
  orgOption,
  requiredText,
} from "../command.ts";
import { OPERATOR, requireOrganisation } from "../with-service.ts";
import { generateOption, newPassword } from "./new-password.ts";
import { printUser } from "./user-record.ts";

const roles: readonly Role[] = ["Standard", "Administrator"];

export const userCreate: Command = {
  name: "user create",
  summary: "create a user; the password is prompted for, piped in or generated",
  usage: "--org ID --email ADDRESS [--generate] [options]",
  options: {
    ...orgOption,
    email: { type: "string", value: "ADDRESS", help: "email address for sign-in", required: true },
    firstname: { type: "string", value: "NAME", help: "given name" },
    surname: { type: "string", value: "NAME", help: "family name" },
    phone: {
      type: "string",
      value: "NUMBER",
      help: "phone number, visible to applications with the phone scope",
    },
    role: { type: "string", value: "ROLE", help: "standard (default) or administrator" },
    verified: { type: "boolean", help: "mark the email address as verified" },
    ...generateOption,
    ...jsonOption,
  },
  examples: [
    "signet user create --org 01998d6e-… --email ada@example.com --role administrator",
    "pass show ada | signet user create --org 01998d6e-… --email ada@example.com --json",
    "signet user create --org 01998d6e-… --email ada@example.com --generate",
  ],
  runWithService: create,
};

async function create(service: Service, call: Call): Promise<number> {
  const { values } = call;
  const email = requiredText(values, "email");
  const role = choice("role", optionalText(values, "role") ?? "Standard", roles);
  const organisation = await requireOrganisation(service, values);
  // Checked before the operator types a password.
  if (!isEmail(email)) throw new InvalidUser("invalid-email");
  if (await findUserByEmail(service.database.query, organisation.id, emailKey(email)))
    throw new InvalidUser("email-taken");
  const phone = optionalText(values, "phone");
  const password = await newPassword(call, organisation);
  const id = await createUser(service, {
    organisation,
    email,
    password: password.text,
    firstname: optionalText(values, "firstname") ?? "",
    surname: optionalText(values, "surname") ?? "",
    ...(phone === undefined ? {} : { phone }),
    role,
    emailVerified: values.verified === true,
    actor: OPERATOR,
  });
  return printUser(call, service, { orgId: organisation.id, id }, password.toShow, "has been created");
}
