/** `signet user set-attributes`: user and membership attributes for the claims of custom scopes. */
import { changeMemberRecord } from "../../core/users/member-record.ts";
import {
  type Command,
  jsonOption,
  jsonOrText,
  orgOption,
  UsageError,
  userOptions,
  type Values,
} from "../command.ts";
import { fields, printResult } from "../output.ts";
import { OPERATOR, requireOrganisation, requireUser } from "../with-service.ts";

const nameValue = { type: "string", value: "NAME=VALUE", multiple: true } as const;

export const userSetAttributes: Command = {
  name: "user set-attributes",
  summary: "replace a user's attributes and groups, the source of custom scope claims",
  usage: "--org ID (--id ID | --email ADDRESS) [options]",
  options: {
    ...orgOption,
    ...userOptions,
    attribute: { ...nameValue, help: "user attribute (user:attributes.NAME); JSON or text; repeatable" },
    "membership-attribute": {
      ...nameValue,
      help: "membership attribute (membership:attributes.NAME); repeatable",
    },
    group: { type: "string", value: "NAME", multiple: true, help: "group (membership:groups); repeatable" },
    ...jsonOption,
  },
  examples: [
    "signet user set-attributes --org 01998d6e-… --email ada@example.com --attribute department=Finance --group staff",
  ],
  runWithService: async (service, call) => {
    const { values } = call;
    const organisation = await requireOrganisation(service, values);
    const user = await requireUser(service, organisation, values);
    const attributes = readNameValues(values, "attribute");
    if (values.attribute !== undefined && user.homeOrgId !== organisation.id)
      throw new Error(`the account belongs to organisation ${user.homeOrgId}: change it there`);
    const membership = {
      groups: [values.group ?? []].flat().map(String),
      attributes: readNameValues(values, "membership-attribute"),
    };
    const record = user.homeOrgId === organisation.id ? { attributes, membership } : { membership };
    await changeMemberRecord(service, { orgId: organisation.id, id: user.id, record, actor: OPERATOR });
    return printResult(call, { id: user.id, ...record }, () =>
      fields({
        id: user.id,
        attributes: JSON.stringify(attributes),
        groups: JSON.stringify(membership.groups),
        "membership attributes": JSON.stringify(membership.attributes),
      }),
    );
  },
};

function readNameValues(values: Values, option: string): Record<string, unknown> {
  return Object.fromEntries(
    [values[option] ?? []].flat().map((text) => {
      const [, name = "", value = ""] = /^([^=]+)=(.*)$/s.exec(String(text)) ?? [];
      if (name === "") throw new UsageError(`--${option} ${text} must have the form NAME=VALUE`);
      return [name, jsonOrText(value)];
    }),
  );
}
