/** `signet user …`: the users of an organisation. */
import { resetFactors } from "../../core/second-factors/changes.ts";
import { signOutEverywhere } from "../../core/sessions/end-sessions.ts";
import { findUserSessions, type SessionRecord } from "../../core/sessions/sessions.store.ts";
import { changeMemberRecord } from "../../core/users/member-record.ts";
import { changeUsername, isUsername, UsernameTaken, usernameKey } from "../../core/users/username.ts";
import { listUsers } from "../../core/users/users.store.ts";
import { setPassword, setUserStatus } from "../../core/users/users.ts";
import {
  type Command,
  listArguments,
  type OrganisationCall,
  repeatedText,
  UsageError,
  userArguments,
  userOptions,
} from "../command.ts";
import { enabledStatus, fields, formatTime, printList, printResult } from "../output.ts";
import { OPERATOR, readList, requireHome, requireHomeUser, requireUser } from "../with-service.ts";
import { readNameValues } from "./name-values.ts";
import { userAccountCommands } from "./user-accounts.ts";
import { userImport } from "./user-import.ts";
import { setProfile } from "./user-profile.ts";
import { generateOption, newPassword, printUser, userRecord } from "./user-record.ts";

const sessionRecord = (session: SessionRecord) => ({
  id: session.id,
  createdAt: formatTime(session.createdAt),
  lastSeenAt: formatTime(session.lastSeenAt),
  expiresAt: formatTime(session.expiresAt),
  methods: session.amr,
  address: session.address,
  userAgent: session.userAgent,
  applications: session.applications,
  deviceBound: Boolean(session.boundKey),
  boundAt: session.boundAt ? formatTime(session.boundAt) : null,
  deviceId: session.deviceId ?? null,
});

const nameValue = { value: "NAME=VALUE", multiple: true };

export const userCommands: readonly Command[] = [
  userAccountCommands.create,
  {
    name: "user list",
    summary: "list the organisation's users",
    ...listArguments,
    runInOrganisation: (call) =>
      printList(call, readList(call, listUsers), {
        record: userRecord,
        columns: {
          ID: "id",
          EMAIL: "email",
          NAME: ({ firstname, surname }) => `${firstname} ${surname}`.trim(),
          ROLE: "role",
          STATUS: enabledStatus,
        },
        none: "The organisation has no users yet: signet user create --org … --email …",
      }),
  },
  {
    name: "user disable",
    summary: "disable a user and revoke sessions and tokens immediately; nothing is deleted",
    usage: "--org ID (--id ID | --email ADDRESS) [--enable] [--json]",
    options: { ...userOptions, enable: { help: "enable the user again" } },
    examples: ["signet user disable --org 01998d6e-… --email ada@example.com"],
    runInOrganisation: async (call) => {
      const { id } = await requireHomeUser(call);
      const disabled = call.values.enable !== true;
      await setUserStatus(call.service, { ...call.by, id, disabled, mayBeLastAdministrator: true });
      return printUser(call, id, disabled ? "has been disabled" : "has been enabled");
    },
  },
  {
    name: "user sessions",
    summary: "list the browsers in which a user is signed in to this organisation, the last used first",
    ...userArguments,
    examples: ["signet user sessions --org 01998d6e-… --email ada@example.com"],
    runInOrganisation: async (call) => {
      const { id } = await requireUser(call);
      const { service, organisation } = call;
      const now = service.clock();
      const seenSince = now - organisation.settings.sessionIdleSeconds * 1_000;
      const of = { orgId: organisation.id, userId: id, now, seenSince };
      return printList(call, await findUserSessions(service.database.query, of), {
        record: sessionRecord,
        columns: {
          ID: "id",
          SINCE: "createdAt",
          "LAST USED": "lastSeenAt",
          ENDS: "expiresAt",
          ADDRESS: "address",
          BOUND: ({ boundKey }) => (boundKey ? "yes" : "no"),
          APPLICATIONS: ({ applications }) => applications.join(", "),
        },
        none: "The user is signed in nowhere in this organisation.",
      });
    },
  },
  userAccountCommands.delete,
  {
    name: "user sign-out",
    summary: "sign a user out of all browsers and revoke tokens; sends back-channel logouts",
    ...userArguments,
    examples: ["signet user sign-out --org 01998d6e-… --email ada@example.com"],
    runInOrganisation: async (call) => {
      const { id } = await requireUser(call);
      await signOutEverywhere(call.service, { ...call.by, userId: id });
      return printUser(call, id, "is signed out everywhere");
    },
  },
  {
    name: "user set-password",
    summary: "set a user's password; revokes existing sessions and tokens",
    usage: "--org ID (--id ID | --email ADDRESS) [--generate] [--json]",
    options: { ...userOptions, ...generateOption },
    examples: ["signet user set-password --org 01998d6e-… --email ada@example.com --generate"],
    runInOrganisation: async (call) => {
      const { id, email, firstname, surname } = await requireHomeUser(call);
      const { text: password, toShow } = await newPassword(call);
      const about = [email, firstname, surname];
      const { service, organisation } = call;
      await setPassword(service, { organisation, id, password, about, actor: OPERATOR });
      return printUser(call, id, "has a new password", toShow);
    },
  },
  {
    name: "user reset-factors",
    summary: "remove a user's second factors, recovery codes and trusted browsers",
    ...userArguments,
    examples: ["signet user reset-factors --org 01998d6e-… --email ada@example.com"],
    runInOrganisation: async (call) => {
      const user = await requireHomeUser(call);
      await resetFactors(call.service, { organisation: call.organisation, user, actor: OPERATOR });
      return printUser(call, user.id, "no longer has a second factor");
    },
  },
  {
    name: "user set-attributes",
    summary: "replace a user's attributes and groups, the source of custom scope claims",
    usage: "--org ID (--id ID | --email ADDRESS) [options]",
    options: {
      ...userOptions,
      attribute: { ...nameValue, help: "user attribute (user:attributes.NAME); JSON or text; repeatable" },
      "membership-attribute": {
        ...nameValue,
        help: "membership attribute (membership:attributes.NAME); repeatable",
      },
      group: { value: "NAME", multiple: true, help: "group (membership:groups); repeatable" },
    },
    examples: [
      "signet user set-attributes --org 01998d6e-… --email ada@example.com --attribute department=Finance --group staff",
    ],
    runInOrganisation: setAttributes,
  },
  {
    name: "user set-username",
    summary: "set or remove a user's username",
    usage: "--org ID (--id ID | --email ADDRESS) [--username NAME] [--json]",
    options: {
      ...userOptions,
      username: { value: "NAME", help: "username, unique in the organisation (default: remove it)" },
    },
    examples: ["signet user set-username --org 01998d6e-… --email ada@example.com --username ada"],
    runInOrganisation: setUsername,
  },
  setProfile,
  userImport,
  userAccountCommands.invite,
  userAccountCommands.changeEmail,
];

async function setAttributes(call: OrganisationCall): Promise<number> {
  const { service, values } = call;
  const attributes = readNameValues(values, "attribute");
  const membership = {
    groups: repeatedText(values, "group"),
    attributes: readNameValues(values, "membership-attribute"),
  };
  const user = await requireUser(call);
  if (values.attribute !== undefined) requireHome(call, user);
  const { organisation, by } = call;
  const record = user.homeOrgId === organisation.id ? { attributes, membership } : { membership };
  await changeMemberRecord(service, { ...by, id: user.id, record });
  return printResult(call, { id: user.id, ...record }, () =>
    fields({
      id: user.id,
      attributes: JSON.stringify(attributes),
      groups: JSON.stringify(membership.groups),
      "membership attributes": JSON.stringify(membership.attributes),
    }),
  );
}

async function setUsername(call: OrganisationCall): Promise<number> {
  const { username } = call.values;
  const name = username === undefined ? null : usernameKey(String(username));
  if (name !== null && !isUsername(name))
    throw new UsageError("--username must have 2 to 64 letters, digits and . _ -, a letter or digit first");
  const { id } = await requireHomeUser(call);
  await changeUsername(call.service, { ...call.by, id, username: name }).catch((error: unknown) => {
    if (!(error instanceof UsernameTaken)) throw error;
    throw new Error("another user of the organisation has this username");
  });
  return printUser(call, id, name === null ? "no longer has a username" : `has the username ${name}`);
}
