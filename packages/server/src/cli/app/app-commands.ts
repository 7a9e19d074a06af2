/** `signet app …`: applications, the OAuth clients of an organisation. */

import { findApplication, listApplications } from "../../core/applications/applications.store.ts";
import { disableApplication } from "../../core/applications/applications.ts";
import { answer, answerList, limitOption, stateOf, time } from "../answer.ts";
import { type Command, jsonOption, type Options, orgOption } from "../command.ts";
import { applicationOf, OPERATOR, organisationOf, readAll, withService } from "../with-service.ts";
import { appCreate } from "./app-create.ts";
import { appFields, appRecord, secretTable } from "./app-record.ts";
import { appUserCommands } from "./app-users.ts";

/** Which one: the only positional argument, or this. */
const whichApp: Options = { app: { type: "string", value: "ID", help: "the application: the same as ID" } };

const appList: Command = {
  name: "app list",
  summary: "list the organisation's applications",
  usage: "--org ID [--limit COUNT] [--json]",
  options: { ...orgOption, ...limitOption, ...jsonOption },
  run: (call) =>
    withService(call, async (service) => {
      const { id: orgId } = await organisationOf(service, call.values);
      const list = await readAll(call.values, (page) =>
        listApplications(service.database.query, orgId, page),
      );
      return answerList(call, list, {
        // The list does not read the secrets: no member is better than an empty one.
        record: (application) => ({ ...appRecord(application), secrets: undefined }),
        headings: ["CLIENT ID", "NAME", "TYPE", "STATE", "CREATED"],
        row: ({ id, name, clientType, disabledAt, createdAt }) => [
          id,
          name,
          clientType,
          stateOf(disabledAt),
          time(createdAt),
        ],
        none: "The organisation has no applications yet: signet app create --org … --name … --type …",
      });
    }),
};

const appShow: Command = {
  name: "app show",
  summary: "show an application with its settings and its secrets' dates, never the secrets",
  usage: "ID --org ID [--json]",
  positionals: 1,
  options: { ...orgOption, ...whichApp, ...jsonOption },
  run: (call) =>
    withService(call, async (service) => {
      const organisation = await organisationOf(service, call.values);
      const application = await applicationOf(service, organisation, call);
      return answer(call, appRecord(application), () => [
        ...appFields(application),
        "",
        ...secretTable(application, service.clock()),
      ]);
    }),
};

const appDisable: Command = {
  name: "app disable",
  summary: "shut an application out: its tokens end at once; nothing is deleted",
  usage: "ID --org ID [--enable] [--json]",
  positionals: 1,
  options: {
    ...orgOption,
    ...whichApp,
    enable: { type: "boolean", help: "let it in again" },
    ...jsonOption,
  },
  run: (call) =>
    withService(call, async (service) => {
      const organisation = await organisationOf(service, call.values);
      const { orgId, id, name } = await applicationOf(service, organisation, call);
      const disabled = call.values.enable !== true;
      await disableApplication(service, { orgId, id, disabled, actor: OPERATOR });
      const changed = await findApplication(service.database.query, orgId, id);
      return answer(call, changed && appRecord(changed), () => [
        `"${name}" is ${disabled ? "disabled" : "enabled"}.`,
      ]);
    }),
};

export const appCommands: readonly Command[] = [appCreate, appList, appShow, appDisable, ...appUserCommands];
