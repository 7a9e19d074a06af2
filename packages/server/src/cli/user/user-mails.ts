/** `signet user invite` and `signet user change-email`: emails with a link that the user opens. */
import { requestNewEmail } from "../../core/users/account-mails.ts";
import { inviteUser } from "../../core/users/invitations/invitations.ts";
import type { Role } from "../../core/users/user.ts";
import type { Service } from "../../modules/open-service.ts";
import {
  type Command,
  choice,
  jsonOption,
  optionalText,
  orgOption,
  requiredText,
  userOptions,
} from "../command.ts";
import { printResult } from "../output.ts";
import { OPERATOR, requireHomeUser, requireOrganisation } from "../with-service.ts";
import { printUser } from "./user-record.ts";

const roles: readonly Role[] = ["Standard", "Administrator"];

const mailDeps = (service: Service) => {
  if (!service.outbox.isOpen) throw new Error("email is not configured: set SMTP_URL");
  return { ...service, baseUrl: service.config.baseUrl };
};

export const userInvite: Command = {
  name: "user invite",
  summary: "create an account and email the user a link to set a password",
  usage: "--org ID --email ADDRESS [options]",
  options: {
    ...orgOption,
    email: { type: "string", value: "ADDRESS", help: "email address to invite", required: true },
    firstname: { type: "string", value: "NAME", help: "given name" },
    surname: { type: "string", value: "NAME", help: "family name" },
    role: { type: "string", value: "ROLE", help: "standard (default) or administrator" },
    ...jsonOption,
  },
  examples: ["signet user invite --org 01998d6e-… --email ada@example.com --firstname Ada"],
  runWithService: async (service, call) => {
    const { values } = call;
    const organisation = await requireOrganisation(service, values);
    const id = await inviteUser(mailDeps(service), {
      organisation,
      email: requiredText(values, "email"),
      firstname: optionalText(values, "firstname") ?? "",
      surname: optionalText(values, "surname") ?? "",
      role: choice("role", optionalText(values, "role") ?? "Standard", roles),
      actor: OPERATOR,
    });
    return printUser(call, service, { orgId: organisation.id, id }, undefined, "has been invited by email");
  },
};

export const userChangeEmail: Command = {
  name: "user change-email",
  summary: "send a confirmation link to a new email address; the old one stays active until confirmed",
  usage: "--org ID (--id ID | --email ADDRESS) --new-email ADDRESS [--json]",
  options: {
    ...orgOption,
    ...userOptions,
    "new-email": { type: "string", value: "ADDRESS", help: "new email address", required: true },
    ...jsonOption,
  },
  examples: [
    "signet user change-email --org 01998d6e-… --email ada@example.com --new-email ada@lovelace.example",
  ],
  runWithService: async (service, call) => {
    const newEmail = requiredText(call.values, "new-email");
    const { user } = await requireHomeUser(service, call);
    await requestNewEmail(mailDeps(service), user, { newEmail, actor: OPERATOR });
    const told = { id: user.id, email: user.email, newEmail: newEmail.trim() };
    return printResult(call, told, () => [`Sent a confirmation link to ${newEmail.trim()}.`]);
  },
};
