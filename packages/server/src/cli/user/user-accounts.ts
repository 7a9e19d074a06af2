/** `signet user create`, `invite`, `change-email` and `delete`: accounts come, move and go. */
import { requestNewEmail } from "../../core/users/account-mails.ts";
import { inviteUser } from "../../core/users/invitations/invitations.ts";
import { deleteUser, leaveOrganisation } from "../../core/users/leaving/delete-user.ts";
import { LastAdministrator } from "../../core/users/leaving/last-administrator.ts";
import { emailKey, isEmail, type Role } from "../../core/users/user.ts";
import { findUserByEmail } from "../../core/users/users.store.ts";
import { createUser, InvalidUser } from "../../core/users/users.ts";
import type { Service } from "../../modules/open-service.ts";
import {
  type Command,
  definedOnly,
  type Options,
  type OrganisationCall,
  optionalChoice,
  optionalText,
  requiredText,
  userOptions,
  type Values,
} from "../command.ts";
import { confirmDeletion } from "../confirm-deletion.ts";
import { printResult } from "../output.ts";
import { OPERATOR, requireHomeUser, requireUser } from "../with-service.ts";
import { generateOption, newPassword, printUser } from "./user-record.ts";

const roles: readonly Role[] = ["Standard", "Administrator"];

const personOptions: Options = {
  firstname: { value: "NAME", help: "given name" },
  surname: { value: "NAME", help: "family name" },
};
const roleOption: Options = { role: { value: "ROLE", help: "standard (default) or administrator" } };

const readPerson = (values: Values) => ({
  firstname: optionalText(values, "firstname") ?? "",
  surname: optionalText(values, "surname") ?? "",
  role: optionalChoice(values, "role", roles) ?? "Standard",
});

export const userAccountCommands = {
  create: {
    name: "user create",
    summary: "create a user; the password is prompted for, piped in or generated",
    usage: "--org ID --email ADDRESS [--generate] [options]",
    options: {
      email: { value: "ADDRESS", help: "email address for sign-in", required: true },
      ...personOptions,
      phone: { value: "NUMBER", help: "phone number, visible to applications with the phone scope" },
      ...roleOption,
      verified: { help: "mark the email address as verified" },
      ...generateOption,
    },
    examples: [
      "signet user create --org 01998d6e-… --email ada@example.com --role administrator",
      "pass show ada | signet user create --org 01998d6e-… --email ada@example.com --json",
      "signet user create --org 01998d6e-… --email ada@example.com --generate",
    ],
    runInOrganisation: create,
  },
  delete: {
    name: "user delete",
    summary: "delete a user permanently, in every organisation; for a guest, remove the membership",
    usage: "--org ID (--id ID | --email ADDRESS) [--yes] [--json]",
    options: { ...userOptions, yes: { help: "delete without asking" } },
    examples: ["signet user delete --org 01998d6e-… --email ada@example.com"],
    runInOrganisation: remove,
  },
  invite: {
    name: "user invite",
    summary: "create an account and email the user a link to set a password",
    usage: "--org ID --email ADDRESS [options]",
    options: {
      email: { value: "ADDRESS", help: "email address to invite", required: true },
      ...personOptions,
      ...roleOption,
    },
    examples: ["signet user invite --org 01998d6e-… --email ada@example.com --firstname Ada"],
    runInOrganisation: async (call) => {
      const email = requiredText(call.values, "email");
      const person = readPerson(call.values);
      const invitation = { organisation: call.organisation, email, ...person, actor: OPERATOR };
      const id = await inviteUser(mailDeps(call.service), invitation);
      return printUser(call, id, "has been invited by email");
    },
  },
  changeEmail: {
    name: "user change-email",
    summary: "send a confirmation link to a new email address; the old one stays active until confirmed",
    usage: "--org ID (--id ID | --email ADDRESS) --new-email ADDRESS [--json]",
    options: {
      ...userOptions,
      "new-email": { value: "ADDRESS", help: "new email address", required: true },
    },
    examples: [
      "signet user change-email --org 01998d6e-… --email ada@example.com --new-email ada@lovelace.example",
    ],
    runInOrganisation: async (call) => {
      const newEmail = requiredText(call.values, "new-email");
      const user = await requireHomeUser(call);
      await requestNewEmail(mailDeps(call.service), user, { newEmail, actor: OPERATOR });
      return printResult(call, { id: user.id, email: user.email, newEmail }, () => [
        `Sent a confirmation link to ${newEmail}.`,
      ]);
    },
  },
} satisfies Record<string, Command>;

async function create(call: OrganisationCall): Promise<number> {
  const { service, values } = call;
  const email = requiredText(values, "email");
  const person = readPerson(values);
  const { organisation } = call;
  // Checked before the operator types a password.
  if (!isEmail(email)) throw new InvalidUser("invalid-email");
  if (await findUserByEmail(service.database.query, organisation.id, emailKey(email)))
    throw new InvalidUser("email-taken");
  const password = await newPassword(call);
  const id = await createUser(service, {
    organisation,
    email,
    password: password.text,
    ...person,
    ...definedOnly({ phone: optionalText(values, "phone") }),
    emailVerified: values.verified === true,
    actor: OPERATOR,
  });
  return printUser(call, id, "has been created", password.toShow);
}

function mailDeps(service: Service) {
  if (!service.outbox.isOpen) throw new Error("email is not configured: set SMTP_URL");
  return { ...service, baseUrl: service.config.baseUrl };
}

async function remove(call: OrganisationCall): Promise<number> {
  const user = await requireUser(call);
  const { service, organisation, by } = call;
  if (!(await confirmDeletion(call, `${user.email} (${user.id})`))) return 1;
  const isGuest = user.homeOrgId !== organisation.id;
  try {
    await (isGuest ? leaveOrganisation : deleteUser)(service, { ...by, id: user.id });
  } catch (error) {
    if (!(error instanceof LastAdministrator)) throw error;
    throw new Error(`organisation ${error.orgId} has no other administrator: create one first`);
  }
  const done = isGuest ? "is no longer a guest of this organisation" : "has been deleted";
  return printResult(call, { id: user.id, email: user.email, deleted: true }, () => [
    `${user.email} ${done}.`,
  ]);
}
