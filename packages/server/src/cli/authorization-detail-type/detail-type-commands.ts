/** `signet authorization-detail-type …` and `signet grant …`: what APIs are asked for in detail, and what users have granted. */
import { readFile } from "node:fs/promises";
import {
  type Command,
  definedOnly,
  limitOption,
  listArguments,
  optionalText,
  type RecordCall,
  requiredText,
  UsageError,
} from "../command.ts";
import { deleteRecord, pathOf, printRecord, printRecords, yesOption } from "../remote/named-records.ts";

const PATH = "/authorization-detail-types";
const pathOfType = (call: RecordCall): string => pathOf(call, PATH, "authorization-detail-type");
const pathOfGrant = (call: RecordCall): string => pathOf(call, "/grants", "grant");

export const detailTypeCommands: readonly Command[] = [
  {
    name: "authorization-detail-type create",
    summary: "let applications ask for something in detail: a type of authorization details (RFC 9396)",
    usage: "--org ID --type TYPE --display-name TEXT --template TEXT --schema FILE [--resource URI] [--json]",
    options: {
      type: { value: "TYPE", help: "as requests name it; can't be changed", required: true },
      "display-name": { value: "TEXT", help: "as the consent page calls it", required: true },
      template: {
        value: "TEXT",
        help: "sentence of the consent page: Pay {amount.value} to {creditor}",
        required: true,
      },
      schema: { value: "FILE", help: "JSON Schema 2020-12 of the details", required: true },
      resource: { value: "URI", help: "API that understands the details: the target of their tokens" },
    },
    examples: [
      "signet authorization-detail-type create --org 01998d6e-… --type payment_initiation --display-name Payments --template 'Pay {amount.value} to {creditor}' --schema payment.json",
    ],
    runByApi: async (call) => {
      const { values } = call;
      const body = definedOnly({
        type: requiredText(values, "type"),
        displayName: requiredText(values, "display-name"),
        template: requiredText(values, "template"),
        schema: await readSchema(requiredText(values, "schema")),
        resource: optionalText(values, "resource"),
      });
      return printRecord(call, await call.api.send("POST", PATH, body), "Created.");
    },
  },
  {
    ...listArguments,
    name: "authorization-detail-type list",
    summary: "list the organisation's types of authorization details",
    options: limitOption,
    runByApi: (call) =>
      printRecords(call, PATH, {
        columns: {
          ID: "id",
          TYPE: "type",
          "DISPLAY NAME": "displayName",
          TEMPLATE: "template",
          ENABLED: "enabled",
        },
        none: "There are no types yet: signet authorization-detail-type create --org … --type …",
      }),
  },
  {
    name: "authorization-detail-type show",
    summary: "show a type of authorization details",
    usage: "ID --org ID [--json]",
    positionals: 1,
    runByApi: async (call) => printRecord(call, await call.api.read(pathOfType(call))),
  },
  {
    name: "authorization-detail-type delete",
    summary: "delete a type of authorization details: new and refreshed tokens have none of it",
    usage: "ID --org ID [--yes] [--json]",
    positionals: 1,
    options: yesOption,
    runByApi: (call) =>
      deleteRecord(call, pathOfType(call), { what: "type of authorization details", name: "type" }),
  },
];

export const grantCommands: readonly Command[] = [
  {
    ...listArguments,
    name: "grant list",
    summary: "list what users have granted applications, while tokens of it are good",
    options: limitOption,
    runByApi: (call) =>
      printRecords(call, "/grants", {
        columns: {
          ID: "id",
          CLIENT: "clientId",
          USER: "userId",
          SCOPES: "scopes",
          "LAST USED": "lastUsedAt",
        },
        none: "There are no grants.",
      }),
  },
  {
    name: "grant show",
    summary: "show a grant, with its authorization details and what its tokens are bound to",
    usage: "ID --org ID [--json]",
    positionals: 1,
    runByApi: async (call) => printRecord(call, await call.api.read(pathOfGrant(call))),
  },
  {
    name: "grant delete",
    summary: "revoke a grant: its refresh token and access tokens end",
    usage: "ID --org ID [--yes] [--json]",
    positionals: 1,
    options: yesOption,
    runByApi: (call) => deleteRecord(call, pathOfGrant(call), { what: "grant", name: "id" }),
  },
];

async function readSchema(file: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(file, "utf8"));
  } catch (error) {
    throw new UsageError(
      `--schema: ${file} cannot be read as JSON: ${error instanceof Error ? error.message : error}`,
    );
  }
}
