/** `signet user …`: the people of an organisation. */
import { resetFactors } from "../../core/second-factors/changes.ts";
import { signOutEverywhere } from "../../core/sessions/user-sessions.ts";
import type { User } from "../../core/users/user.ts";
import { listUsers } from "../../core/users/users.store.ts";
import { disableUser, setPassword } from "../../core/users/users.ts";
import type { Service } from "../../modules/open-service.ts";
import { answerList, limitOption, stateOf } from "../answer.ts";
import { type Call, type Command, jsonOption, type Options, orgOption } from "../command.ts";
import { OPERATOR, organisationOf, readAll, userOf, withService } from "../with-service.ts";
import { generateOption, newPassword } from "./new-password.ts";
import { userSetAttributes } from "./user-attributes.ts";
import { userCreate } from "./user-create.ts";
import { userDelete } from "./user-delete.ts";
import { userChangeEmail, userInvite } from "./user-mails.ts";
import { answerUser, userRecord } from "./user-record.ts";
import { userSetUsername } from "./user-username.ts";

const whichUser: Options = {
  id: { type: "string", value: "ID", help: "the user, by PermId" },
  email: { type: "string", value: "ADDRESS", help: "the user, by email address" },
};

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
        record: userRecord,
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
      await disableUser(service, { ...key, disabled, actor: OPERATOR, mayBeLastAdministrator: true });
      return answerUser(call, service, key, undefined, disabled ? "has been disabled" : "has been enabled");
    }),
};

const userSignOut: Command = {
  name: "user sign-out",
  summary: "end a user's sessions and tokens here, in every browser; the applications are told",
  usage: "--org ID (--id ID | --email ADDRESS) [--json]",
  options: { ...orgOption, ...whichUser, ...jsonOption },
  examples: ["signet user sign-out --org 01998d6e-… --email ada@example.com"],
  run: (call) =>
    withService(call, async (service) => {
      const organisation = await organisationOf(service, call.values);
      const { id } = await userOf(service, organisation, call.values);
      await signOutEverywhere(service, { orgId: organisation.id, userId: id, actor: OPERATOR });
      return answerUser(call, service, { orgId: organisation.id, id }, undefined, "is signed out everywhere");
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
      return answerUser(call, service, { orgId, id }, password.toShow, "has a new password");
    }),
};

const userResetFactors: Command = {
  name: "user reset-factors",
  summary: "take away a user's second factors, recovery codes and remembered browsers",
  usage: "--org ID (--id ID | --email ADDRESS) [--json]",
  options: { ...orgOption, ...whichUser, ...jsonOption },
  examples: ["signet user reset-factors --org 01998d6e-… --email ada@example.com"],
  run: (call) =>
    withService(call, async (service) => {
      const organisation = await organisationOf(service, call.values);
      const { orgId, id, user } = await accountOf(call, service);
      await resetFactors(service, { organisation, user, actor: OPERATOR });
      return answerUser(call, service, { orgId, id }, undefined, "has no second factor any more");
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

export const userCommands: readonly Command[] = [
  userCreate,
  userList,
  userDisable,
  userDelete,
  userSignOut,
  userSetPassword,
  userResetFactors,
  userSetAttributes,
  userSetUsername,
  userInvite,
  userChangeEmail,
];
