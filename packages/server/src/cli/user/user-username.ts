/** `signet user set-username`: the username, the claim `preferred_username`. */
import { changeUsername, isUsername, UsernameTaken, usernameKey } from "../../core/users/username.ts";
import { type Command, jsonOption, orgOption, UsageError, userOptions } from "../command.ts";
import { OPERATOR, requireHomeUser } from "../with-service.ts";
import { printUser } from "./user-record.ts";

export const userSetUsername: Command = {
  name: "user set-username",
  summary: "set or remove a user's username",
  usage: "--org ID (--id ID | --email ADDRESS) [--username NAME] [--json]",
  options: {
    ...orgOption,
    ...userOptions,
    username: {
      type: "string",
      value: "NAME",
      help: "username, unique in the organisation (default: remove it)",
    },
    ...jsonOption,
  },
  examples: ["signet user set-username --org 01998d6e-… --email ada@example.com --username ada"],
  runWithService: async (service, call) => {
    const { username } = call.values;
    const name = username === undefined ? null : usernameKey(String(username));
    if (name !== null && !isUsername(name))
      throw new UsageError("--username must have 2 to 64 letters, digits and . _ -, a letter or digit first");
    const { organisation, user } = await requireHomeUser(service, call);
    const key = { orgId: organisation.id, id: user.id };
    await changeUsername(service, { ...key, username: name, actor: OPERATOR }).catch((error: unknown) => {
      if (!(error instanceof UsernameTaken)) throw error;
      throw new Error("another user of the organisation has this username");
    });
    const done = name === null ? "no longer has a username" : `has the username ${name}`;
    return printUser(call, service, key, undefined, done);
  },
};
