/** `signet user …`: the users of an organisation. */
import { resetFactors } from "../../core/second-factors/changes.ts";
import { signOutEverywhere } from "../../core/sessions/end-sessions.ts";
import { listUsers } from "../../core/users/users.store.ts";
import { setPassword, setUserStatus } from "../../core/users/users.ts";
import {
  type Command,
  jsonOption,
  listArguments,
  orgOption,
  userArguments,
  userOptions,
} from "../command.ts";
import { enabledStatus, printList } from "../output.ts";
import { OPERATOR, readAll, requireHomeUser, requireOrganisation, requireUser } from "../with-service.ts";
import { generateOption, newPassword } from "./new-password.ts";
import { userSetAttributes } from "./user-attributes.ts";
import { userCreate } from "./user-create.ts";
import { userDelete } from "./user-delete.ts";
import { userChangeEmail, userInvite } from "./user-mails.ts";
import { printUser, userRecord } from "./user-record.ts";
import { userSetUsername } from "./user-username.ts";

const userList: Command = {
  name: "user list",
  summary: "list the organisation's users",
  ...listArguments,
  runWithService: async (service, call) => {
    const { id: orgId } = await requireOrganisation(service, call.values);
    const list = await readAll(call.values, (page) => listUsers(service.database.query, orgId, page));
    return printList(call, list, {
      record: userRecord,
      headings: ["ID", "EMAIL", "NAME", "ROLE", "STATUS"],
      row: (user) => [
        user.id,
        user.email,
        `${user.firstname} ${user.surname}`.trim(),
        user.role,
        enabledStatus(user.disabledAt),
      ],
      none: "The organisation has no users yet: signet user create --org … --email …",
    });
  },
};

const userDisable: Command = {
  name: "user disable",
  summary: "disable a user and revoke sessions and tokens immediately; nothing is deleted",
  usage: "--org ID (--id ID | --email ADDRESS) [--enable] [--json]",
  options: {
    ...orgOption,
    ...userOptions,
    enable: { type: "boolean", help: "enable the user again" },
    ...jsonOption,
  },
  examples: ["signet user disable --org 01998d6e-… --email ada@example.com"],
  runWithService: async (service, call) => {
    const { organisation, user } = await requireHomeUser(service, call);
    const key = { orgId: organisation.id, id: user.id };
    const disabled = call.values.enable !== true;
    await setUserStatus(service, { ...key, disabled, actor: OPERATOR, mayBeLastAdministrator: true });
    return printUser(call, service, key, undefined, disabled ? "has been disabled" : "has been enabled");
  },
};

const userSignOut: Command = {
  name: "user sign-out",
  summary: "sign a user out of all browsers and revoke tokens; sends back-channel logouts",
  ...userArguments,
  examples: ["signet user sign-out --org 01998d6e-… --email ada@example.com"],
  runWithService: async (service, call) => {
    const organisation = await requireOrganisation(service, call.values);
    const { id } = await requireUser(service, organisation, call.values);
    await signOutEverywhere(service, { orgId: organisation.id, userId: id, actor: OPERATOR });
    return printUser(call, service, { orgId: organisation.id, id }, undefined, "is signed out everywhere");
  },
};

const userSetPassword: Command = {
  name: "user set-password",
  summary: "set a user's password; revokes existing sessions and tokens",
  usage: "--org ID (--id ID | --email ADDRESS) [--generate] [--json]",
  options: { ...orgOption, ...userOptions, ...generateOption, ...jsonOption },
  examples: ["signet user set-password --org 01998d6e-… --email ada@example.com --generate"],
  runWithService: async (service, call) => {
    const { organisation, user } = await requireHomeUser(service, call);
    const password = await newPassword(call, organisation);
    const about = [user.email, user.firstname, user.surname];
    await setPassword(service, {
      organisation,
      id: user.id,
      password: password.text,
      about,
      actor: OPERATOR,
    });
    return printUser(
      call,
      service,
      { orgId: organisation.id, id: user.id },
      password.toShow,
      "has a new password",
    );
  },
};

const userResetFactors: Command = {
  name: "user reset-factors",
  summary: "remove a user's second factors, recovery codes and trusted browsers",
  ...userArguments,
  examples: ["signet user reset-factors --org 01998d6e-… --email ada@example.com"],
  runWithService: async (service, call) => {
    const { organisation, user } = await requireHomeUser(service, call);
    await resetFactors(service, { organisation, user, actor: OPERATOR });
    return printUser(
      call,
      service,
      { orgId: organisation.id, id: user.id },
      undefined,
      "no longer has a second factor",
    );
  },
};

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
