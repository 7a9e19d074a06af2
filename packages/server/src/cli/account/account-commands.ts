/** `signet account …`: system accounts, which call the JSON APIs with signed requests. */
import { findSystemAccount, listSystemAccounts } from "../../core/system-accounts/system-accounts.store.ts";
import {
  changeSystemAccount,
  createSystemAccount,
  grantApplication,
  removeSystemAccount,
  withdrawApplication,
} from "../../core/system-accounts/system-accounts.ts";
import { systemAccountKeyRecord } from "../../features/management-api/system-accounts/system-account-record.ts";
import {
  appOption,
  type Command,
  listArguments,
  type OrganisationCall,
  requiredText,
  UsageError,
  type Values,
} from "../command.ts";
import { enabledStatus, fields, printList, printResult, timeOrNever } from "../output.ts";
import { readAll, requireNamedApplication } from "../with-service.ts";
import { accountKeyCommands } from "./account-keys.ts";
import {
  accountFields,
  accountRecord,
  accountType,
  keyTable,
  readAccount,
  requireAccount,
} from "./account-record.ts";

const permissionArguments = { usage: "ID --org ID --app ID [--json]", positionals: 1, options: appOption };

export const accountCommands: readonly Command[] = [
  {
    name: "account create",
    summary: "create a system account and its first key pair; the secret key is shown once",
    usage: "--org ID --app ID --name NAME [--administrator] [--strict] [--allow-end-user-address] [--json]",
    options: {
      ...appOption,
      name: { value: "NAME", help: "purpose of the account, up to 100 characters", required: true },
      administrator: { help: "allow the organisation's management API" },
      strict: { help: "require a timestamp and nonce in every signed request" },
      "allow-end-user-address": { help: "trust the X-End-User-Address of its requests" },
    },
    examples: [
      'signet account create --org 01998d6e-… --app 01998d70-… --name "Order import"',
      "signet account create --org 01998d6e-… --app 01998d70-… --name Terraform --administrator --strict",
    ],
    runInOrganisation: create,
  },
  {
    name: "account update",
    summary: "change a system account's name, required signature form and rights",
    usage:
      "ID --org ID [--name NAME] [--strict | --no-strict] [--allow-end-user-address | --no-end-user-address] [--json]",
    positionals: 1,
    options: {
      name: { value: "NAME", help: "purpose of the account, up to 100 characters" },
      strict: { help: "require a timestamp and nonce in every signed request" },
      "no-strict": { help: "accept requests without timestamp and nonce" },
      "allow-end-user-address": { help: "trust the X-End-User-Address of its requests" },
      "no-end-user-address": { help: "ignore the X-End-User-Address of its requests" },
    },
    examples: ["signet account update 01998d72-… --org 01998d6e-… --allow-end-user-address"],
    runInOrganisation: update,
  },
  {
    name: "account list",
    summary: "list the organisation's system accounts",
    ...listArguments,
    runInOrganisation: (call) => {
      const accounts = readAll(call.values, ({ after, limit }) =>
        // listSystemAccounts returns one more than the limit.
        listSystemAccounts(call.service.database.query, call.organisation.id, { after, limit: limit - 1 }),
      );
      return printList(call, accounts, {
        record: accountRecord,
        columns: {
          ID: "id",
          NAME: "name",
          TYPE: accountType,
          APPLICATION: "applicationId",
          STATUS: enabledStatus,
          "LAST USED": ({ lastUsedAt }) => timeOrNever(lastUsedAt),
        },
        none: "The organisation has no system accounts yet: signet account create --org … --app … --name …",
      });
    },
  },
  {
    name: "account show",
    summary: "show a system account with its permissions and public keys",
    positionals: 1,
    runInOrganisation: async (call) => {
      const { account, keys } = await readAccount(call, (await requireAccount(call)).id);
      return printResult(call, { ...accountRecord(account), keys: keys.map(systemAccountKeyRecord) }, () => [
        ...accountFields(account),
        "",
        ...keyTable(keys, call.service.clock()),
      ]);
    },
  },
  ...accountKeyCommands,
  {
    name: "account grant",
    summary: "allow a system account to act for another application",
    ...permissionArguments,
    runInOrganisation: async (call) => {
      const permission = await readPermission(call);
      const changed = await grantApplication(call.service, permission);
      const line = changed ? "Permission granted." : "Permission already granted.";
      return printAccount(call, permission.id, line);
    },
  },
  {
    name: "account withdraw",
    summary: "withdraw the permission to act for another application",
    ...permissionArguments,
    runInOrganisation: async (call) => {
      const permission = await readPermission(call);
      const changed = await withdrawApplication(call.service, permission);
      const line = changed ? "Permission withdrawn." : "The account had no such permission.";
      return printAccount(call, permission.id, line);
    },
  },
  {
    name: "account disable",
    summary: "reject a system account's calls immediately; nothing is deleted",
    positionals: 1,
    runInOrganisation: (call) => setDisabled(call, true),
  },
  {
    name: "account enable",
    summary: "enable a disabled system account",
    positionals: 1,
    runInOrganisation: (call) => setDisabled(call, false),
  },
  {
    name: "account delete",
    summary: "delete a system account and its keys permanently; audit events are kept",
    positionals: 1,
    runInOrganisation: async (call) => {
      const { id, name } = await requireAccount(call);
      await removeSystemAccount(call.service, { ...call.by, id });
      return printResult(call, { id, deleted: true }, () => [`Deleted "${name}".`]);
    },
  },
];

async function create(call: OrganisationCall): Promise<number> {
  const { values } = call;
  const { id: applicationId } = await requireNamedApplication(call);
  const { account, key, secret } = await createSystemAccount(call.service, {
    ...call.by,
    applicationId,
    name: requiredText(values, "name"),
    isAdministrator: values.administrator === true,
    requiresStrictSignature: values.strict === true,
    allowsEndUserAddress: values["allow-end-user-address"] === true,
  });
  const { publicKey } = key;
  return printResult(call, { ...accountRecord(account), publicKey, secretKey: secret }, () => [
    ...fields({ id: account.id, type: accountType(account), publicKey, secretKey: secret }),
    "",
    "Copy the secret key now: Signet can't show it again.",
  ]);
}

async function update(call: OrganisationCall): Promise<number> {
  const { values } = call;
  const { id } = await requireAccount(call);
  const strict = readSwitch(values, "strict", "no-strict");
  const allows = readSwitch(values, "allow-end-user-address", "no-end-user-address");
  const change = {
    ...(values["name"] === undefined ? {} : { name: requiredText(values, "name") }),
    ...(strict === undefined ? {} : { requiresStrictSignature: strict }),
    ...(allows === undefined ? {} : { allowsEndUserAddress: allows }),
  };
  if (Object.keys(change).length === 0) throw new UsageError("nothing to change: name an option");
  const account = await changeSystemAccount(call.service, { ...call.by, id, ...change });
  return printResult(call, account && accountRecord(account), () => (account ? accountFields(account) : []));
}

/** @throws UsageError for both at once */
export function readSwitch(values: Values, on: string, off: string): boolean | undefined {
  if (values[on] === true && values[off] === true) throw new UsageError(`--${on} and --${off} contradict`);
  return values[on] === true ? true : values[off] === true ? false : undefined;
}

async function readPermission(call: OrganisationCall) {
  const { id } = await requireAccount(call);
  const { id: applicationId } = await requireNamedApplication(call);
  return { ...call.by, id, applicationId };
}

async function setDisabled(call: OrganisationCall, disabled: boolean): Promise<number> {
  const { id, name } = await requireAccount(call);
  await changeSystemAccount(call.service, { ...call.by, id, disabled });
  return printAccount(call, id, `${disabled ? "Disabled" : "Enabled"} "${name}".`);
}

async function printAccount(call: OrganisationCall, id: string, line: string): Promise<number> {
  const account = await findSystemAccount(call.service.database.query, call.organisation.id, id);
  return printResult(call, account && accountRecord(account), () => [line]);
}
