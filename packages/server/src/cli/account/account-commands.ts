/** `signet account …`: system accounts, which call the JSON APIs with signed requests. */
import { findSystemAccount, listSystemAccounts } from "../../core/system-accounts/system-accounts.store.ts";
import {
  changeSystemAccount,
  createSystemAccount,
  grantApplication,
  removeSystemAccount,
  withdrawApplication,
} from "../../core/system-accounts/system-accounts.ts";
import type { Service } from "../../modules/open-service.ts";
import {
  appOption,
  type Call,
  type Command,
  jsonOption,
  listArguments,
  orgOption,
  recordArguments,
  requiredText,
} from "../command.ts";
import { enabledStatus, fields, formatTimeOrNull, printList, printResult } from "../output.ts";
import {
  OPERATOR,
  readAll,
  requireAccount,
  requireApplication,
  requireOrganisation,
} from "../with-service.ts";
import { accountKeyCommands } from "./account-keys.ts";
import {
  accountFields,
  accountRecord,
  accountType,
  keyRecord,
  keyTable,
  readAccount,
} from "./account-record.ts";

const accountCreate: Command = {
  name: "account create",
  summary: "create a system account and its first key pair; the secret key is shown once",
  usage: "--org ID --app ID --name NAME [--administrator] [--strict] [--json]",
  options: {
    ...orgOption,
    ...appOption,
    name: {
      type: "string",
      value: "NAME",
      help: "purpose of the account, up to 100 characters",
      required: true,
    },
    administrator: { type: "boolean", help: "allow the organisation's management API" },
    strict: { type: "boolean", help: "require a timestamp and nonce in every signed request" },
    ...jsonOption,
  },
  examples: [
    'signet account create --org 01998d6e-… --app 01998d70-… --name "Order import"',
    "signet account create --org 01998d6e-… --app 01998d70-… --name Terraform --administrator --strict",
  ],
  runWithService: async (service, call) => {
    const { values } = call;
    const organisation = await requireOrganisation(service, values);
    const application = await requireApplication(service, organisation, { values, positionals: [] });
    const { account, key, secret } = await createSystemAccount(service, {
      orgId: organisation.id,
      applicationId: application.id,
      name: requiredText(values, "name"),
      isAdministrator: values.administrator === true,
      requiresStrictSignature: values.strict === true,
      actor: OPERATOR,
    });
    const record = { ...accountRecord(account), publicKey: key.publicKey, secretKey: secret };
    return printResult(call, record, () => [
      ...fields({ id: account.id, type: accountType(account), publicKey: key.publicKey, secretKey: secret }),
      "",
      "Copy the secret key now: Signet can't show it again.",
    ]);
  },
};

const accountList: Command = {
  name: "account list",
  summary: "list the organisation's system accounts",
  ...listArguments,
  runWithService: async (service, call) => {
    const { id: orgId } = await requireOrganisation(service, call.values);
    const list = await readAll(call.values, ({ after, limit }) =>
      // listSystemAccounts returns one more than the limit.
      listSystemAccounts(service.database.query, orgId, { after, limit: limit - 1 }),
    );
    return printList(call, list, {
      record: accountRecord,
      headings: ["ID", "NAME", "TYPE", "APPLICATION", "STATUS", "LAST USED"],
      row: (account) => [
        account.id,
        account.name,
        accountType(account),
        account.applicationId,
        enabledStatus(account.disabledAt),
        formatTimeOrNull(account.lastUsedAt) ?? "never",
      ],
      none: "The organisation has no system accounts yet: signet account create --org … --app … --name …",
    });
  },
};

const accountShow: Command = {
  name: "account show",
  summary: "show a system account with its permissions and public keys",
  ...recordArguments,
  runWithService: async (service, call) => {
    const { account, keys } = await readAccount(service, await requireAccount(service, call));
    return printResult(call, { ...accountRecord(account), keys: keys.map(keyRecord) }, () => [
      ...accountFields(account),
      "",
      ...keyTable(keys, service.clock()),
    ]);
  },
};

const permissionArguments = {
  ...recordArguments,
  usage: "ID --org ID --app ID [--json]",
  options: { ...orgOption, ...appOption, ...jsonOption },
};

const accountGrant: Command = {
  name: "account grant",
  summary: "allow a system account to act for another application",
  ...permissionArguments,
  runWithService: (service, call) => setPermission(service, call, true),
};

const accountWithdraw: Command = {
  name: "account withdraw",
  summary: "withdraw the permission to act for another application",
  ...permissionArguments,
  runWithService: (service, call) => setPermission(service, call, false),
};

async function setPermission(service: Service, call: Call, granted: boolean): Promise<number> {
  const { orgId, id } = await requireAccount(service, call);
  const organisation = await requireOrganisation(service, call.values);
  // The positional argument names the account.
  const named = { values: call.values, positionals: [] };
  const { id: applicationId } = await requireApplication(service, organisation, named);
  const permission = { orgId, id, applicationId, actor: OPERATOR };
  const changed = await (granted ? grantApplication : withdrawApplication)(service, permission);
  if (granted)
    return printAccount(
      service,
      call,
      permission,
      changed ? "Permission granted." : "Permission already granted.",
    );
  return printAccount(
    service,
    call,
    permission,
    changed ? "Permission withdrawn." : "The account had no such permission.",
  );
}

const accountDisable: Command = {
  name: "account disable",
  summary: "reject a system account's calls immediately; nothing is deleted",
  ...recordArguments,
  runWithService: (service, call) => setDisabled(service, call, true),
};

const accountEnable: Command = {
  name: "account enable",
  summary: "enable a disabled system account",
  ...recordArguments,
  runWithService: (service, call) => setDisabled(service, call, false),
};

async function setDisabled(service: Service, call: Call, disabled: boolean): Promise<number> {
  const { orgId, id, name } = await requireAccount(service, call);
  await changeSystemAccount(service, { orgId, id, disabled, actor: OPERATOR });
  return printAccount(service, call, { orgId, id }, `${disabled ? "Disabled" : "Enabled"} "${name}".`);
}

const accountDelete: Command = {
  name: "account delete",
  summary: "delete a system account and its keys permanently; audit events are kept",
  ...recordArguments,
  runWithService: async (service, call) => {
    const { orgId, id, name } = await requireAccount(service, call);
    await removeSystemAccount(service, { orgId, id, actor: OPERATOR });
    return printResult(call, { id, deleted: true }, () => [`Deleted "${name}".`]);
  },
};

async function printAccount(
  { database }: Service,
  call: Call,
  { orgId, id }: { orgId: string; id: string },
  line: string,
): Promise<number> {
  const account = await findSystemAccount(database.query, orgId, id);
  return printResult(call, account && accountRecord(account), () => [line]);
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
