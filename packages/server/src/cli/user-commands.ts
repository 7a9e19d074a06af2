/** `signet user …`: the people of an organisation. Passwords are typed, piped in or made; never an argument, which others could read. */
import { randomSecret } from "@signet/protocol/hash";
import type { Organisation } from "../core/organisations/organisation.ts";
import { findUser, findUserByEmail, listUsers } from "../core/users/store.ts";
import { emailKey, isEmail, type Role, type User } from "../core/users/user.ts";
import { createUser, disableUser, InvalidUser, setPassword } from "../core/users/users.ts";
import type { Service } from "../open-service.ts";
import { answer, answerList, fields, limitOption, stateOf, time, timeOrNull } from "./answer.ts";
import {
  type Call,
  type Command,
  choice,
  jsonOption,
  type Options,
  optionalText,
  orgOption,
  requiredText,
  UsageError,
} from "./command.ts";
import { OPERATOR, organisationOf, readAll, userOf, withService } from "./with-service.ts";

const roles: readonly Role[] = ["Standard", "Administrator"];

const record = (user: User) => ({
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

const whichUser: Options = {
  id: { type: "string", value: "ID", help: "the user, by PermId" },
  email: { type: "string", value: "ADDRESS", help: "the user, by email address" },
};

const generateOption: Options = {
  generate: { type: "boolean", help: "make a password and show it, this once" },
};

const userCreate: Command = {
  name: "user create",
  summary: "make a user; the password is asked for, piped in or made",
  usage: "--org ID --email ADDRESS [--generate] [options]",
  options: {
    ...orgOption,
    email: { type: "string", value: "ADDRESS", help: "what the user signs in with" },
    firstname: { type: "string", value: "NAME", help: "given name" },
    surname: { type: "string", value: "NAME", help: "family name" },
    phone: {
      type: "string",
      value: "NUMBER",
      help: "telephone number, shown to applications with the scope phone",
    },
    role: { type: "string", value: "ROLE", help: "standard (default) or administrator" },
    verified: { type: "boolean", help: "the address is known to be the user's" },
    ...generateOption,
    ...jsonOption,
  },
  examples: [
    "signet user create --org 01998d6e-… --email ada@example.com --role administrator",
    "pass show ada | signet user create --org 01998d6e-… --email ada@example.com --json",
    "signet user create --org 01998d6e-… --email ada@example.com --generate",
  ],
  run: (call) => withService(call, (service) => create(call, service)),
};

async function create(call: Call, service: Service): Promise<number> {
  const { values } = call;
  const email = requiredText(values, "email");
  const role = choice("role", optionalText(values, "role") ?? "Standard", roles);
  const organisation = await organisationOf(service, values);
  // Told before anybody thinks of a password.
  if (!isEmail(email)) throw new InvalidUser("invalid-email", "the email address is not valid");
  if (await findUserByEmail(service.database.query, organisation.id, emailKey(email)))
    throw new InvalidUser("email-taken", "the organisation has a user of this address already");
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
  return answerUser(call, service, { orgId: organisation.id, id }, password.toShow, "made");
}

const userList: Command = {
  name: "user list",
  summary: "list the organisation's users",
  usage: "--org ID [--limit COUNT] [--json]",
  options: { ...orgOption, ...limitOption, ...jsonOption },
  run: (call) =>
    withService(call, async (service) => {
      const { id: orgId } = await organisationOf(service, call.values);
      const list = await readAll(call.values, (page) => listUsers(service.database.query, orgId, page));
      return answerList(call, list, {
        record,
        headings: ["ID", "EMAIL", "NAME", "ROLE", "STATE"],
        row: (user) => [
          user.id,
          user.email,
          `${user.firstname} ${user.surname}`.trim(),
          user.role,
          stateOf(user.disabledAt),
        ],
        none: "The organisation has no users yet: signet user create --org … --email …",
      });
    }),
};

const userDisable: Command = {
  name: "user disable",
  summary: "shut a user out: sessions and tokens end at once; nothing is deleted",
  usage: "--org ID (--id ID | --email ADDRESS) [--enable] [--json]",
  options: {
    ...orgOption,
    ...whichUser,
    enable: { type: "boolean", help: "let the user in again" },
    ...jsonOption,
  },
  examples: ["signet user disable --org 01998d6e-… --email ada@example.com"],
  run: (call) =>
    withService(call, async (service) => {
      const key = await accountOf(call, service);
      const disabled = call.values.enable !== true;
      await disableUser(service, { ...key, disabled, actor: OPERATOR });
      return answerUser(call, service, key, undefined, disabled ? "disabled" : "enabled");
    }),
};

const userSetPassword: Command = {
  name: "user set-password",
  summary: "give a user a new password; sessions and tokens of the old one end",
  usage: "--org ID (--id ID | --email ADDRESS) [--generate] [--json]",
  options: { ...orgOption, ...whichUser, ...generateOption, ...jsonOption },
  examples: ["signet user set-password --org 01998d6e-… --email ada@example.com --generate"],
  run: (call) =>
    withService(call, async (service) => {
      const organisation = await organisationOf(service, call.values);
      const { orgId, id, user } = await accountOf(call, service);
      const password = await newPassword(call, organisation);
      const about = [user.email, user.firstname, user.surname];
      await setPassword(service, { organisation, id, password: password.text, about, actor: OPERATOR });
      return answerUser(call, service, { orgId, id }, password.toShow, "given a new password");
    }),
};

/** @throws when the user is only a guest here: the home organisation alone changes an account */
async function accountOf(
  { values }: Call,
  service: Service,
): Promise<{ orgId: string; id: string; user: User }> {
  const organisation = await organisationOf(service, values);
  const user = await userOf(service, organisation, values);
  if (user.homeOrgId !== organisation.id)
    throw new Error(`the account belongs to the organisation ${user.homeOrgId}: change it there`);
  return { orgId: organisation.id, id: user.id, user };
}

async function newPassword(
  { values, io }: Call,
  organisation: Organisation,
): Promise<{ text: string; toShow?: string }> {
  if (values.generate) {
    // Four characters for three bytes, and never under 120 bits.
    const bytes = Math.max(15, Math.ceil((organisation.settings.passwordMinLength * 3) / 4));
    const text = randomSecret("", bytes);
    return { text, toShow: text };
  }
  const text = await io.readSecret("New password");
  if (text === "") throw new UsageError("there is no password: type or pipe one in, or use --generate");
  return { text };
}

async function answerUser(
  call: Call,
  { database }: Service,
  key: { orgId: string; id: string },
  password: string | undefined,
  done: string,
): Promise<number> {
  const user = await findUser(database.query, key.orgId, key.id);
  if (!user) throw new Error("the user is gone");
  return answer(call, { ...record(user), ...(password === undefined ? {} : { password }) }, () => [
    `${user.email} is ${done}.`,
    ...fields({ id: user.id, role: user.role, password }),
    ...(password === undefined ? [] : ["The password is not shown again."]),
  ]);
}

export const userCommands: readonly Command[] = [userCreate, userList, userDisable, userSetPassword];
