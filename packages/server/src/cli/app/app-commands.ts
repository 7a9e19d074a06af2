/** `signet app …`: applications, the OAuth clients of an organisation. */

import { findApplication, listApplications } from "../../core/applications/applications.store.ts";
import { setApplicationStatus } from "../../core/applications/applications.ts";
import { type Command, jsonOption, listArguments, type Options, orgOption } from "../command.ts";
import { enabledStatus, formatTime, printList, printResult } from "../output.ts";
import { OPERATOR, readAll, requireApplication, requireOrganisation } from "../with-service.ts";
import { appCreate } from "./app-create.ts";
import { appFields, appRecord, secretTable } from "./app-record.ts";
import { appUserCommands } from "./app-users.ts";

const appArgument: Options = {
  app: { type: "string", value: "ID", help: "client ID, in place of the ID argument" },
};

const appList: Command = {
  name: "app list",
  summary: "list the organisation's applications",
  ...listArguments,
  runWithService: async (service, call) => {
    const { id: orgId } = await requireOrganisation(service, call.values);
    const list = await readAll(call.values, (page) => listApplications(service.database.query, orgId, page));
    return printList(call, list, {
      // The list query doesn't read secrets: an empty array would mislead.
      record: (application) => ({ ...appRecord(application), secrets: undefined }),
      headings: ["CLIENT ID", "NAME", "TYPE", "STATUS", "CREATED"],
      row: ({ id, name, clientType, disabledAt, createdAt }) => [
        id,
        name,
        clientType,
        enabledStatus(disabledAt),
        formatTime(createdAt),
      ],
      none: "The organisation has no applications yet: signet app create --org … --name … --type …",
    });
  },
};

const appShow: Command = {
  name: "app show",
  summary: "show an application's settings and secret metadata",
  usage: "ID --org ID [--json]",
  positionals: 1,
  options: { ...orgOption, ...appArgument, ...jsonOption },
  runWithService: async (service, call) => {
    const organisation = await requireOrganisation(service, call.values);
    const application = await requireApplication(service, organisation, call);
    return printResult(call, appRecord(application), () => [
      ...appFields(application),
      "",
      ...secretTable(application, service.clock()),
    ]);
  },
};

const appDisable: Command = {
  name: "app disable",
  summary: "disable an application and revoke its tokens immediately; nothing is deleted",
  usage: "ID --org ID [--enable] [--json]",
  positionals: 1,
  options: {
    ...orgOption,
    ...appArgument,
    enable: { type: "boolean", help: "enable the application again" },
    ...jsonOption,
  },
  runWithService: async (service, call) => {
    const organisation = await requireOrganisation(service, call.values);
    const { orgId, id, name } = await requireApplication(service, organisation, call);
    const disabled = call.values.enable !== true;
    await setApplicationStatus(service, { orgId, id, disabled, actor: OPERATOR });
    const changed = await findApplication(service.database.query, orgId, id);
    return printResult(call, changed && appRecord(changed), () => [
      `${disabled ? "Disabled" : "Enabled"} "${name}".`,
    ]);
  },
};

export const appCommands: readonly Command[] = [appCreate, appList, appShow, appDisable, ...appUserCommands];
