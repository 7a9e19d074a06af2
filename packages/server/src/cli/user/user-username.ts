/** `signet user set-username`: the name that tokens tell as `preferred_username`. */
import { changeUsername, UsernameTaken } from "../../core/users/identifiers/change-username.ts";
import { isUsername, usernameKey } from "../../core/users/identifiers/username.ts";
import { type Command, jsonOption, orgOption, UsageError } from "../command.ts";
import { OPERATOR, organisationOf, userOf, withService } from "../with-service.ts";
import { answerUser } from "./user-record.ts";

export const userSetUsername: Command = {
  name: "user set-username",
  summary: "give a user a username, or take it away",
  usage: "--org ID (--id ID | --email ADDRESS) [--username NAME] [--json]",
  options: {
    ...orgOption,
    id: { type: "string", value: "ID", help: "the user, by PermId" },
    email: { type: "string", value: "ADDRESS", help: "the user, by email address" },
    username: { type: "string", value: "NAME", help: "unique in the organisation; none without it" },
    ...jsonOption,
  },
  examples: ["signet user set-username --org 01998d6e-… --email ada@example.com --username ada"],
  run: (call) =>
    withService(call, async (service) => {
      const { username } = call.values;
      const name = username === undefined ? null : usernameKey(String(username));
      if (name !== null && !isUsername(name))
        throw new UsageError(
          "--username must have 2 to 64 letters, digits and . _ -, a letter or digit first",
        );
      const organisation = await organisationOf(service, call.values);
      const user = await userOf(service, organisation, call.values);
      if (user.homeOrgId !== organisation.id)
        throw new Error(`the account belongs to the organisation ${user.homeOrgId}: change it there`);
      const key = { orgId: organisation.id, id: user.id };
      await changeUsername(service, { ...key, username: name, actor: OPERATOR }).catch((error: unknown) => {
        if (!(error instanceof UsernameTaken)) throw error;
        throw new Error("another user of the organisation has this username");
      });
      const done = name === null ? "has no username any more" : `has the username ${name}`;
      return answerUser(call, service, key, undefined, done);
    }),
};
