/** `signet scope …`: the organisation's custom scopes. */
import {
  type ClaimSource,
  type CustomScope,
  claimSources,
  type ScopeClaim,
} from "../../core/scopes/custom-scope.ts";
import {
  changeCustomScope,
  createCustomScope,
  deleteCustomScope,
  type ScopeContent,
} from "../../core/scopes/custom-scopes.ts";
import { listCustomScopes } from "../../core/scopes/scopes.store.ts";
import type { Service } from "../../modules/open-service.ts";
import {
  type Call,
  type Command,
  choice,
  jsonOption,
  jsonOrText,
  type Options,
  optionalText,
  orgArguments,
  orgOption,
  requiredText,
  UsageError,
  type Values,
} from "../command.ts";
import { fields, formatTime, printList, printResult } from "../output.ts";
import { OPERATOR, requireOrganisation } from "../with-service.ts";

const contentOptions: Options = {
  description: { type: "string", value: "TEXT", help: "description on the consent page" },
  claim: {
    type: "string",
    value: "NAME=SOURCE:WHAT",
    multiple: true,
    help: "claim to add: user:PATH, membership:PATH or static:VALUE (JSON or text); repeatable",
  },
};

const scopeRecord = (scope: CustomScope) => ({
  id: scope.id,
  name: scope.name,
  displayName: scope.displayName,
  description: scope.description,
  claims: scope.claims,
  sensitive: scope.sensitive,
  createdAt: formatTime(scope.createdAt),
  updatedAt: formatTime(scope.updatedAt),
});

const claimText = (claim: ScopeClaim): string =>
  `${claim.name}=${claim.source}:${claim.source === "static" ? JSON.stringify(claim.value) : claim.path}`;

const printScope = (call: Call, scope: CustomScope): number =>
  printResult(call, scopeRecord(scope), () =>
    fields({
      id: scope.id,
      name: scope.name,
      "display name": scope.displayName,
      description: scope.description,
      claims: scope.claims.map(claimText).join(" ") || "(none)",
      sensitive: scope.sensitive ? "yes" : "no",
    }),
  );

const scopeCreate: Command = {
  name: "scope create",
  summary: "create a custom scope, which adds claims to access tokens and userinfo",
  usage: "--org ID --name NAME --display-name TEXT [options]",
  options: {
    ...orgOption,
    name: { type: "string", value: "NAME", help: "scope name in requests; can't be changed", required: true },
    "display-name": {
      type: "string",
      value: "TEXT",
      help: "display name on the consent page",
      required: true,
    },
    ...contentOptions,
    sensitive: { type: "boolean", help: "highlight the scope on the consent page" },
    ...jsonOption,
  },
  examples: [
    'signet scope create --org 01998d6e-… --name payroll --display-name "See your pay" --claim department=user:attributes.department',
    'signet scope create --org 01998d6e-… --name teams --display-name "Your teams" --claim roles=membership:groups --sensitive',
  ],
  runWithService: async (service, call) => {
    const { values } = call;
    const { id: orgId } = await requireOrganisation(service, values);
    const scope = await createCustomScope(service, {
      orgId,
      name: requiredText(values, "name"),
      displayName: requiredText(values, "display-name"),
      description: optionalText(values, "description") ?? "",
      claims: readClaims(values) ?? [],
      sensitive: values.sensitive === true,
      actor: OPERATOR,
    });
    return printScope(call, scope);
  },
};

const scopeList: Command = {
  name: "scope list",
  summary: "list the organisation's custom scopes",
  ...orgArguments,
  runWithService: async (service, call) => {
    const { id: orgId } = await requireOrganisation(service, call.values);
    const items = await listCustomScopes(service.database.query, orgId);
    return printList(
      call,
      { items, more: false },
      {
        record: scopeRecord,
        headings: ["ID", "NAME", "DISPLAY NAME", "CLAIMS", "SENSITIVE"],
        row: (scope) => [
          scope.id,
          scope.name,
          scope.displayName,
          scope.claims.map(claimText).join(" "),
          scope.sensitive ? "yes" : "no",
        ],
        none: "No custom scopes yet: signet scope create --org … --name … --display-name …",
      },
    );
  },
};

const scopeUpdate: Command = {
  name: "scope update",
  summary: "change a custom scope; users consent again when its claims change",
  usage: "NAME --org ID [options]",
  positionals: 1,
  options: {
    ...orgOption,
    "display-name": { type: "string", value: "TEXT", help: "display name on the consent page" },
    ...contentOptions,
    "no-claims": { type: "boolean", help: "remove all claims" },
    sensitive: { type: "boolean", help: "highlight the scope on the consent page" },
    "not-sensitive": { type: "boolean", help: "don't highlight the scope on the consent page" },
    ...jsonOption,
  },
  examples: ["signet scope update payroll --org 01998d6e-… --claim department=user:attributes.department"],
  runWithService: async (service, call) => {
    const { orgId, id } = await requireScope(call, service);
    const content = readContent(call.values);
    const scope = await changeCustomScope(service, { orgId, id, content, actor: OPERATOR });
    if (!scope) throw new Error("the scope no longer exists");
    return printScope(call, scope);
  },
};

const scopeDelete: Command = {
  name: "scope delete",
  summary: "delete a custom scope: it no longer adds claims; requests that name it still succeed",
  usage: "NAME --org ID [--json]",
  positionals: 1,
  options: { ...orgOption, ...jsonOption },
  runWithService: async (service, call) => {
    const scope = await requireScope(call, service);
    const deleted = await deleteCustomScope(service, { ...scope, actor: OPERATOR });
    return printResult(call, { id: scope.id, name: scope.name, deleted }, () => [`Deleted ${scope.name}.`]);
  },
};

/** The scope of the positional argument, by name or ID. @throws when it isn't in the organisation */
async function requireScope({ values, positionals }: Call, service: Service): Promise<CustomScope> {
  const { id: orgId } = await requireOrganisation(service, values);
  const [which] = positionals;
  if (which === undefined) throw new UsageError("the NAME of the scope is required");
  const scopes = await listCustomScopes(service.database.query, orgId);
  const scope = scopes.find(({ id, name }) => name === which || id === which.toLowerCase());
  if (!scope) throw new Error(`there is no scope "${which}" in this organisation`);
  return scope;
}

function readContent(values: Values): Partial<ScopeContent> {
  const displayName = optionalText(values, "display-name");
  const claims = values["no-claims"] === true ? [] : readClaims(values);
  const isMarked = values.sensitive === true;
  if (isMarked && values["not-sensitive"] === true)
    throw new UsageError("--sensitive and --not-sensitive can't be combined");
  if (values["no-claims"] === true && values.claim !== undefined)
    throw new UsageError("--claim and --no-claims can't be combined");
  return {
    ...(displayName === undefined ? {} : { displayName }),
    ...(typeof values.description === "string" ? { description: values.description.trim() } : {}),
    ...(claims === undefined ? {} : { claims }),
    ...(isMarked || values["not-sensitive"] === true ? { sensitive: isMarked } : {}),
  };
}

function readClaims({ claim }: Values): ScopeClaim[] | undefined {
  if (claim === undefined) return undefined;
  return [claim].flat().map((text) => {
    const [, name = "", word = "", what = ""] = /^([^=]+)=([a-z]+):(.+)$/s.exec(String(text)) ?? [];
    if (name === "")
      throw new UsageError(`--claim ${text} must have the form NAME=user:PATH or NAME=static:VALUE`);
    const source: ClaimSource = choice("claim", word, claimSources);
    return source === "static" ? { name, source, value: jsonOrText(what) } : { name, source, path: what };
  });
}

export const scopeCommands: readonly Command[] = [scopeCreate, scopeList, scopeUpdate, scopeDelete];
