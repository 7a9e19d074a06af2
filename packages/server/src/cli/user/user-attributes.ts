/** `signet user set-attributes`: what custom scopes can tell about a user beside the account's own data. */
import { changeMemberRecord } from "../../core/users/member-record.ts";
import { answer, fields } from "../answer.ts";
import { type Command, jsonOption, jsonOrText, orgOption, UsageError, type Values } from "../command.ts";
import { OPERATOR, organisationOf, userOf, withService } from "../with-service.ts";

const named = { type: "string", value: "NAME=VALUE", multiple: true } as const;

export const userSetAttributes: Command = {
  name: "user set-attributes",
  summary: "replace a user's attributes and groups, which custom scopes can tell",
  usage: "--org ID (--id ID | --email ADDRESS) [options]",
  options: {
    ...orgOption,
    id: { type: "string", value: "ID", help: "the user, by PermId" },
    email: { type: "string", value: "ADDRESS", help: "the user, by email address" },
    attribute: { ...named, help: "of the account: user:attributes.NAME; JSON, or text; repeatable" },
    "membership-attribute": { ...named, help: "of the membership: membership:attributes.NAME; repeatable" },
    group: { type: "string", value: "NAME", multiple: true, help: "membership:groups; repeatable" },
    ...jsonOption,
  },
  examples: [
    "signet user set-attributes --org 01998d6e-… --email ada@example.com --attribute department=Finance --group staff",
  ],
  run: (call) =>
    withService(call, async (service) => {
      const { values } = call;
      const organisation = await organisationOf(service, values);
      const user = await userOf(service, organisation, values);
      const attributes = readNamed(values, "attribute");
      if (values.attribute !== undefined && user.homeOrgId !== organisation.id)
        throw new Error(`the account belongs to the organisation ${user.homeOrgId}: change it there`);
      const membership = {
        groups: [values.group ?? []].flat().map(String),
        attributes: readNamed(values, "membership-attribute"),
      };
      const record = user.homeOrgId === organisation.id ? { attributes, membership } : { membership };
      await changeMemberRecord(service, { orgId: organisation.id, id: user.id, record, actor: OPERATOR });
      return answer(call, { id: user.id, ...record }, () =>
        fields({
          id: user.id,
          attributes: JSON.stringify(attributes),
          groups: JSON.stringify(membership.groups),
          "membership attributes": JSON.stringify(membership.attributes),
        }),
      );
    }),
};

function readNamed(values: Values, option: string): Record<string, unknown> {
  return Object.fromEntries(
    [values[option] ?? []].flat().map((text) => {
      const [, name = "", value = ""] = /^([^=]+)=(.*)$/s.exec(String(text)) ?? [];
      if (name === "") throw new UsageError(`--${option} ${text} must be like NAME=VALUE`);
      return [name, jsonOrText(value)];
    }),
  );
}
