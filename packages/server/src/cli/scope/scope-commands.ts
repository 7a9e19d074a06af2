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
import { scopeRecord } from "../../features/management-api/scope-record.ts";
import {
  type Command,
  choice,
  definedOnly,
  jsonOrText,
  type Options,
  type OrganisationCall,
  optionalText,
  repeatedText,
  requiredText,
  UsageError,
  type Values,
} from "../command.ts";
import { fields, formatTime, printList, printResult } from "../output.ts";
import { requireArgument } from "../with-service.ts";

const contentOptions: Options = {
  description: { value: "TEXT", help: "description on the consent page" },
  claim: {
    value: "NAME=SOURCE:WHAT",
    multiple: true,
    help: "claim to add: user:PATH, membership:PATH or static:VALUE (JSON or text); repeatable",
  },
};
const displayNameOption = { value: "TEXT", help: "display name on the consent page" };
const sensitiveOption = { help: "highlight the scope on the consent page" };

const scopeWithTimes = (scope: CustomScope) => ({
  ...scopeRecord(scope),
  updatedAt: formatTime(scope.updatedAt),
});

const claimText = (claim: ScopeClaim): string =>
  `${claim.name}=${claim.source}:${claim.source === "static" ? JSON.stringify(claim.value) : claim.path}`;
const claimsText = ({ claims }: CustomScope): string => claims.map(claimText).join(" ");
const sensitiveText = ({ sensitive }: CustomScope): string => (sensitive ? "yes" : "no");

const printScope = (call: OrganisationCall, scope: CustomScope): number =>
  printResult(call, scopeWithTimes(scope), () =>
    fields({
      id: scope.id,
      name: scope.name,
      "display name": scope.displayName,
      description: scope.description,
      claims: claimsText(scope) || "(none)",
      sensitive: sensitiveText(scope),
    }),
  );

export const scopeCommands: readonly Command[] = [
  {
    name: "scope create",
    summary: "create a custom scope, which adds claims to access tokens and userinfo",
    usage: "--org ID --name NAME --display-name TEXT [options]",
    options: {
      name: { value: "NAME", help: "scope name in requests; can't be changed", required: true },
      "display-name": { ...displayNameOption, required: true },
      ...contentOptions,
      sensitive: sensitiveOption,
    },
    examples: [
      'signet scope create --org 01998d6e-… --name payroll --display-name "See your pay" --claim department=user:attributes.department',
      'signet scope create --org 01998d6e-… --name teams --display-name "Your teams" --claim teams=membership:groups --sensitive',
    ],
    runInOrganisation: async (call) => {
      const { service, values } = call;
      const scope = await createCustomScope(service, {
        name: requiredText(values, "name"),
        displayName: requiredText(values, "display-name"),
        description: optionalText(values, "description") ?? "",
        claims: readClaims(values) ?? [],
        sensitive: values.sensitive === true,
        ...call.by,
      });
      return printScope(call, scope);
    },
  },
  {
    name: "scope list",
    summary: "list the organisation's custom scopes",
    runInOrganisation: async ({ service, organisation, ...call }) =>
      printList(call, await listCustomScopes(service.database.query, organisation.id), {
        record: scopeWithTimes,
        columns: {
          ID: "id",
          NAME: "name",
          "DISPLAY NAME": "displayName",
          CLAIMS: claimsText,
          SENSITIVE: sensitiveText,
        },
        none: "No custom scopes yet: signet scope create --org … --name … --display-name …",
      }),
  },
  {
    name: "scope update",
    summary: "change a custom scope; users consent again when its claims change",
    usage: "NAME --org ID [options]",
    positionals: 1,
    options: {
      "display-name": displayNameOption,
      ...contentOptions,
      "no-claims": { help: "remove all claims" },
      sensitive: sensitiveOption,
      "not-sensitive": { help: "don't highlight the scope on the consent page" },
    },
    examples: ["signet scope update payroll --org 01998d6e-… --claim department=user:attributes.department"],
    runInOrganisation: async (call) => {
      const content = readScopeContent(call.values);
      const { id } = await requireScope(call);
      const scope = await changeCustomScope(call.service, { ...call.by, id, content });
      if (!scope) throw new Error("the scope no longer exists");
      return printScope(call, scope);
    },
  },
  {
    name: "scope delete",
    summary:
      "delete a custom scope and take it from every application: new and refreshed tokens no longer have it",
    usage: "NAME --org ID [--json]",
    positionals: 1,
    runInOrganisation: async (call) => {
      const { id, name, version } = await requireScope(call);
      const deleted = await deleteCustomScope(call.service, { ...call.by, id, version });
      return printResult(call, { id, name, deleted }, () => [`Deleted ${name}.`]);
    },
  },
];

/** The scope of the positional argument, by name or ID. @throws when it isn't in the organisation */
async function requireScope(call: OrganisationCall): Promise<CustomScope> {
  const which = requireArgument(call, "the NAME of the scope");
  const scopes = await listCustomScopes(call.service.database.query, call.organisation.id);
  const scope = scopes.find(({ id, name }) => name === which || id === which.toLowerCase());
  if (!scope) throw new Error(`there is no scope "${which}" in this organisation`);
  return scope;
}

export function readScopeContent(values: Values): Partial<ScopeContent> {
  const { sensitive = false, "not-sensitive": notSensitive = false, "no-claims": noClaims = false } = values;
  if (sensitive && notSensitive) throw new UsageError("--sensitive and --not-sensitive can't be combined");
  if (noClaims && values.claim !== undefined)
    throw new UsageError("--claim and --no-claims can't be combined");
  return definedOnly({
    displayName: optionalText(values, "display-name"),
    description: typeof values.description === "string" ? values.description.trim() : undefined,
    claims: noClaims ? [] : readClaims(values),
    sensitive: sensitive || notSensitive ? sensitive === true : undefined,
  });
}

function readClaims(values: Values): ScopeClaim[] | undefined {
  if (values.claim === undefined) return undefined;
  return repeatedText(values, "claim").map((text) => {
    const [, name = "", word = "", what = ""] = /^([^=]+)=([a-z]+):(.+)$/s.exec(text) ?? [];
    if (name === "")
      throw new UsageError(`--claim ${text} must have the form NAME=user:PATH or NAME=static:VALUE`);
    const source: ClaimSource = choice("claim", word, claimSources);
    return source === "static" ? { name, source, value: jsonOrText(what) } : { name, source, path: what };
  });
}
