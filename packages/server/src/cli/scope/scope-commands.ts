/** `signet scope …`: what applications of an organisation can ask for beside the standard scopes. */
import type { ClaimSource, CustomScope, ScopeClaim } from "../../core/scopes/custom-scope.ts";
import { claimSources } from "../../core/scopes/custom-scope.ts";
import {
  changeCustomScope,
  createCustomScope,
  deleteCustomScope,
  type ScopeContent,
} from "../../core/scopes/custom-scopes.ts";
import { listCustomScopes } from "../../core/scopes/scopes.store.ts";
import type { Service } from "../../modules/open-service.ts";
import { answer, answerList, fields, time } from "../answer.ts";
import {
  type Call,
  type Command,
  choice,
  jsonOption,
  jsonOrText,
  type Options,
  optionalText,
  orgOption,
  requiredText,
  UsageError,
  type Values,
} from "../command.ts";
import { OPERATOR, organisationOf, withService } from "../with-service.ts";

const contentOptions: Options = {
  description: { type: "string", value: "TEXT", help: "what it allows, a sentence for the consent page" },
  claim: {
    type: "string",
    value: "NAME=SOURCE:WHAT",
    multiple: true,
    help: "user:PATH, membership:PATH or static:VALUE (JSON, or text); repeatable",
  },
};

const scopeRecord = (scope: CustomScope) => ({
  id: scope.id,
  name: scope.name,
  displayName: scope.displayName,
  description: scope.description,
  claims: scope.claims,
  sensitive: scope.sensitive,
  createdAt: time(scope.createdAt),
  updatedAt: time(scope.updatedAt),
});

const claimText = (claim: ScopeClaim): string =>
  `${claim.name}=${claim.source}:${claim.source === "static" ? JSON.stringify(claim.value) : claim.path}`;

const answerScope = (call: Call, scope: CustomScope): number =>
  answer(call, scopeRecord(scope), () =>
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
  summary: "make a scope; its claims are added to access tokens and userinfo",
  usage: "--org ID --name NAME --display-name TEXT [options]",
  options: {
    ...orgOption,
    name: { type: "string", value: "NAME", help: "as applications ask for it; it stays", required: true },
    "display-name": { type: "string", value: "TEXT", help: "as the consent page names it", required: true },
    ...contentOptions,
    sensitive: { type: "boolean", help: "the consent page marks it" },
    ...jsonOption,
  },
  examples: [
    'signet scope create --org 01998d6e-… --name payroll --display-name "See your pay" --claim department=user:attributes.department',
    'signet scope create --org 01998d6e-… --name teams --display-name "Your teams" --claim roles=membership:groups --sensitive',
  ],
  run: (call) =>
    withService(call, async (service) => {
      const { values } = call;
      const { id: orgId } = await organisationOf(service, values);
      const scope = await createCustomScope(service, {
        orgId,
        name: requiredText(values, "name"),
        displayName: requiredText(values, "display-name"),
        description: optionalText(values, "description") ?? "",
        claims: readClaims(values) ?? [],
        sensitive: values.sensitive === true,
        actor: OPERATOR,
      });
      return answerScope(call, scope);
    }),
};

const scopeList: Command = {
  name: "scope list",
  summary: "list the organisation's own scopes",
  usage: "--org ID [--json]",
  options: { ...orgOption, ...jsonOption },
  run: (call) =>
    withService(call, async (service) => {
      const { id: orgId } = await organisationOf(service, call.values);
      const items = await listCustomScopes(service.database.query, orgId);
      return answerList(
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
          none: "The organisation has no scopes of its own yet: signet scope create --org … --name … --display-name …",
        },
      );
    }),
};

const scopeUpdate: Command = {
  name: "scope update",
  summary: "change a scope; users are asked again when it gives something else",
  usage: "NAME --org ID [options]",
  positionals: 1,
  options: {
    ...orgOption,
    "display-name": { type: "string", value: "TEXT", help: "as the consent page names it" },
    ...contentOptions,
    "no-claims": { type: "boolean", help: "it gives no claims any more" },
    sensitive: { type: "boolean", help: "the consent page marks it" },
    "not-sensitive": { type: "boolean", help: "the consent page does not mark it" },
    ...jsonOption,
  },
  examples: ["signet scope update payroll --org 01998d6e-… --claim department=user:attributes.department"],
  run: (call) =>
    withService(call, async (service) => {
      const { orgId, id } = await scopeOf(call, service);
      const content = readContent(call.values);
      const scope = await changeCustomScope(service, { orgId, id, content, actor: OPERATOR });
      if (!scope) throw new Error("the scope is gone");
      return answerScope(call, scope);
    }),
};

const scopeDelete: Command = {
  name: "scope delete",
  summary: "remove a scope: it gives nothing any more; applications may go on naming it",
  usage: "NAME --org ID [--json]",
  positionals: 1,
  options: { ...orgOption, ...jsonOption },
  run: (call) =>
    withService(call, async (service) => {
      const scope = await scopeOf(call, service);
      const deleted = await deleteCustomScope(service, { ...scope, actor: OPERATOR });
      return answer(call, { id: scope.id, name: scope.name, deleted }, () => [`${scope.name} is deleted.`]);
    }),
};

/** The scope of the only positional argument, by its name or id. @throws when the organisation has none such */
async function scopeOf({ values, positionals }: Call, service: Service): Promise<CustomScope> {
  const { id: orgId } = await organisationOf(service, values);
  const [which] = positionals;
  if (which === undefined) throw new UsageError("NAME is missing: the scope");
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
    throw new UsageError("--sensitive and --not-sensitive contradict each other");
  if (values["no-claims"] === true && values.claim !== undefined)
    throw new UsageError("--claim and --no-claims contradict each other");
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
    if (name === "") throw new UsageError(`--claim ${text} must be like NAME=user:PATH or NAME=static:VALUE`);
    const source: ClaimSource = choice("claim", word, claimSources);
    return source === "static" ? { name, source, value: jsonOrText(what) } : { name, source, path: what };
  });
}

export const scopeCommands: readonly Command[] = [scopeCreate, scopeList, scopeUpdate, scopeDelete];
