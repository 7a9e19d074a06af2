/** `signet account …`: system accounts, the programs that call the service's JSON interfaces with a signature. */
import { findSystemAccount, listSystemAccounts } from "../../core/system-accounts/system-accounts.store.ts";
import {
  changeSystemAccount,
  createSystemAccount,
  grantApplication,
  removeSystemAccount,
  withdrawApplication,
} from "../../core/system-accounts/system-accounts.ts";
import { answer, answerList, fields, limitOption, stateOf, timeOrNull } from "../answer.ts";
import { appOption, type Command, jsonOption, orgOption, requiredText } from "../command.ts";
import { commandsOn } from "../on-record.ts";
import { accountOf, applicationOf, OPERATOR, organisationOf, readAll, withService } from "../with-service.ts";
import { accountKeyCommands } from "./account-keys.ts";
import { accountFields, accountRecord, keyRecord, keyTable, kindOf, readAccount } from "./account-record.ts";

const accountCreate: Command = {
  name: "account create",
  summary: "make a system account with its pair of keys, whose secret is shown once",
  usage: "--org ID --app ID --name NAME [--administrator] [--strict] [--json]",
  options: {
    ...orgOption,
    ...appOption,
    name: { type: "string", value: "NAME", help: "what it is for, up to 100 characters", required: true },
    administrator: { type: "boolean", help: "let it use the management API of the organisation" },
    strict: { type: "boolean", help: "refuse its calls without timestamp and nonce" },
    ...jsonOption,
  },
  examples: [
    'signet account create --org 01998d6e-… --app 01998d70-… --name "Order import"',
    "signet account create --org 01998d6e-… --app 01998d70-… --name Terraform --administrator --strict",
  ],
  run: (call) =>
    withService(call, async (service) => {
      const { values } = call;
      const organisation = await organisationOf(service, values);
      // Its application is an option, never the positional argument.
      const application = await applicationOf(service, organisation, { values, positionals: [] });
      const made = await createSystemAccount(service, {
        orgId: organisation.id,
        applicationId: application.id,
        name: requiredText(values, "name"),
        isAdministrator: values.administrator === true,
        requiresStrictSignature: values.strict === true,
        actor: OPERATOR,
      });
      const { account, key, secret } = made;
      const record = { ...accountRecord(account), publicKey: key.publicKey, secretKey: secret };
      return answer(call, record, () => [
        ...fields({ id: account.id, kind: kindOf(account), publicKey: key.publicKey, secretKey: secret }),
        "",
        "The secret key is not shown again.",
      ]);
    }),
};

const accountList: Command = {
  name: "account list",
  summary: "list the organisation's system accounts",
  usage: "--org ID [--limit COUNT] [--json]",
  options: { ...orgOption, ...limitOption, ...jsonOption },
  run: (call) =>
    withService(call, async (service) => {
      const { id: orgId } = await organisationOf(service, call.values);
      const list = await readAll(call.values, ({ after, limit }) =>
        // It reads one more than it is asked for.
        listSystemAccounts(service.database.query, orgId, { after, limit: limit - 1 }),
      );
      return answerList(call, list, {
        record: accountRecord,
        headings: ["ID", "NAME", "KIND", "APPLICATION", "STATE", "LAST USED"],
        row: (account) => [
          account.id,
          account.name,
          kindOf(account),
          account.applicationId,
          stateOf(account.disabledAt),
          timeOrNull(account.lastUsedAt) ?? "never",
        ],
        none: "The organisation has no system accounts yet: signet account create --org … --app … --name …",
      });
    }),
};

const onAccount = commandsOn("account", accountOf);

const accountShow = onAccount(
  "show",
  "show a system account with its permissions and its keys, never a secret",
  async (service, call, { orgId, id }) => {
    const { account, keys } = await readAccount(service, { orgId, id });
    return answer(call, { ...accountRecord(account), keys: keys.map(keyRecord) }, () => [
      ...accountFields(account),
      "",
      ...keyTable(keys, service.clock()),
    ]);
  },
);

const accountGrant = onPermission("grant", "let a system account act for another application", {
  act: grantApplication,
  done: "It may act for the application.",
  nothing: "It could already act for the application.",
});

const accountWithdraw = onPermission("withdraw", "take back the permission on another application", {
  act: withdrawApplication,
  done: "It may not act for the application any more.",
  nothing: "It had no such permission.",
});

const accountDisable = onState("disable", "refuse a system account's calls from now on; nothing is deleted");
const accountEnable = onState("enable", "let a disabled system account in again");

const accountDelete = onAccount(
  "delete",
  "delete a system account with its keys; the audit log keeps what it did",
  async (service, call, { orgId, id, name }) => {
    await removeSystemAccount(service, { orgId, id, actor: OPERATOR });
    return answer(call, { id, deleted: true }, () => [`"${name}" is deleted.`]);
  },
);

function onPermission(
  verb: string,
  summary: string,
  what: { act: typeof grantApplication; done: string; nothing: string },
): Command {
  return onAccount(
    verb,
    summary,
    async (service, call, { orgId, id }) => {
      const organisation = await organisationOf(service, call.values);
      const application = await applicationOf(service, organisation, {
        values: call.values,
        positionals: [],
      });
      const changed = await what.act(service, { orgId, id, applicationId: application.id, actor: OPERATOR });
      const account = await findSystemAccount(service.database.query, orgId, id);
      return answer(call, account && accountRecord(account), () => [changed ? what.done : what.nothing]);
    },
    { usage: "--app ID ", options: appOption },
  );
}

function onState(verb: "disable" | "enable", summary: string): Command {
  return onAccount(verb, summary, async (service, call, { orgId, id, name }) => {
    await changeSystemAccount(service, { orgId, id, disabled: verb === "disable", actor: OPERATOR });
    const account = await findSystemAccount(service.database.query, orgId, id);
    return answer(call, account && accountRecord(account), () => [`"${name}" is ${verb}d.`]);
  });
}

export const accountCommands: readonly Command[] = [
  accountCreate,
  accountList,
  accountShow,
  ...accountKeyCommands,
  accountGrant,
  accountWithdraw,
  accountDisable,
  accountEnable,
  accountDelete,
];
