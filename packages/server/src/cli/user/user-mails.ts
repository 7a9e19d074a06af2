/** `signet user invite` and `signet user change-email`: mails with a link, which their readers complete. */
import { requestNewEmail } from "../../core/users/account-mails.ts";
import { inviteUser } from "../../core/users/invitations/invitations.ts";
import type { Role } from "../../core/users/user.ts";
import type { Service } from "../../modules/open-service.ts";
import { answer } from "../answer.ts";
import { type Command, choice, jsonOption, optionalText, orgOption, requiredText } from "../command.ts";
import { OPERATOR, organisationOf, userOf, withService } from "../with-service.ts";
import { answerUser } from "./user-record.ts";

const roles: readonly Role[] = ["Standard", "Administrator"];

const withMail = (service: Service) => {
  if (!service.outbox.isOpen) throw new Error("mail is not set up: SMTP_URL");
  return { ...service, baseUrl: service.config.baseUrl };
};

export const userInvite: Command = {
  name: "user invite",
  summary: "make an account and send its owner a link to choose a password",
  usage: "--org ID --email ADDRESS [options]",
  options: {
    ...orgOption,
    email: { type: "string", value: "ADDRESS", help: "whom to invite", required: true },
    firstname: { type: "string", value: "NAME", help: "given name" },
    surname: { type: "string", value: "NAME", help: "family name" },
    role: { type: "string", value: "ROLE", help: "standard (default) or administrator" },
    ...jsonOption,
  },
  examples: ["signet user invite --org 01998d6e-… --email ada@example.com --firstname Ada"],
  run: (call) =>
    withService(call, async (service) => {
      const { values } = call;
      const organisation = await organisationOf(service, values);
      const id = await inviteUser(withMail(service), {
        organisation,
        email: requiredText(values, "email"),
        firstname: optionalText(values, "firstname") ?? "",
        surname: optionalText(values, "surname") ?? "",
        role: choice("role", optionalText(values, "role") ?? "Standard", roles),
        actor: OPERATOR,
      });
      return answerUser(call, service, { orgId: organisation.id, id }, undefined, "is invited by mail");
    }),
};

export const userChangeEmail: Command = {
  name: "user change-email",
  summary: "send a link to a user's new address; the old one stays until it is used",
  usage: "--org ID (--id ID | --email ADDRESS) --new-email ADDRESS [--json]",
  options: {
    ...orgOption,
    id: { type: "string", value: "ID", help: "the user, by PermId" },
    email: { type: "string", value: "ADDRESS", help: "the user, by email address" },
    "new-email": {
      type: "string",
      value: "ADDRESS",
      help: "the address that is to be confirmed",
      required: true,
    },
    ...jsonOption,
  },
  examples: [
    "signet user change-email --org 01998d6e-… --email ada@example.com --new-email ada@lovelace.example",
  ],
  run: (call) =>
    withService(call, async (service) => {
      const newEmail = requiredText(call.values, "new-email");
      const organisation = await organisationOf(service, call.values);
      const user = await userOf(service, organisation, call.values);
      if (user.homeOrgId !== organisation.id)
        throw new Error(`the account belongs to the organisation ${user.homeOrgId}: change it there`);
      await requestNewEmail(withMail(service), user, { newEmail, actor: OPERATOR });
      const told = { id: user.id, email: user.email, newEmail: newEmail.trim() };
      return answer(call, told, () => [`${newEmail.trim()} gets a mail with a link.`]);
    }),
};
