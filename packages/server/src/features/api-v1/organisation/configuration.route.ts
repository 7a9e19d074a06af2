/**
 * /api/v1/organisations/{org}/configuration: what `signet org export` writes, the difference of a file, and applying one, all or
 * nothing.
 */
import Type, { type Static } from "typebox";
import type { ApplicationSettings } from "../../../core/applications/application.ts";
import { certificateNames } from "../../../core/applications/certificate-names.ts";
import type { ApplicationRules } from "../../../core/applications/validation.ts";
import { applyFile, ConfigurationChanged } from "../../../core/configuration/apply.ts";
import type { ApplicationStep, Difference } from "../../../core/configuration/difference.ts";
import { type Entry, isDone } from "../../../core/configuration/entries.ts";
import { ConfigurationTooLarge, exportOrganisation } from "../../../core/configuration/export.ts";
import {
  InvalidFile,
  MAX_FILE_BYTES,
  type OrganisationFile,
} from "../../../core/configuration/organisation-file.ts";
import { rehearseFile } from "../../../core/configuration/rehearse.ts";
import type { SectionName } from "../../../core/configuration/sections/all-sections.ts";
import { type FileRecord, sectionKinds } from "../../../core/configuration/sections/section.ts";
import { checkedFile } from "../../../core/configuration/validation.ts";
import { InvalidSettings } from "../../../core/organisations/settings-validation.ts";
import { inPortions } from "../../../core/portions.ts";
import { apiScopes, type ApiScope as Scope } from "../../../core/scopes/api-scopes.ts";
import { conflict, invalid, notFound } from "../../../http/api/api-error.ts";
import { type ApiScope, apiRoute, type Operation } from "../../../http/api/api-route.ts";
import { isUnchanged } from "../../../http/api/concurrency.ts";
import { noParameters, strictObject } from "../../../http/api/schemas.ts";
import { type ApiCaller, actOf, apiAuthenticator, authenticatedFirst, requireHeld } from "../access.ts";
import { requireHeldScopes, requireOther } from "../applications/held-scopes.ts";
import { type ApiDeps, inTransaction } from "../frame/api-deps.ts";
import { tagOf } from "../frame/entity-tag.ts";
import { requireWayIn } from "./way-in.ts";

/** The configuration is of both areas. */
const reads = ["signet:organisation:read", "signet:applications:read"] as const satisfies Scope[];
const writes = ["signet:organisation:write", "signet:applications:write"] as const satisfies Scope[];

const file = Type.Object(
  {},
  {
    title: "ApiConfigurationFile",
    additionalProperties: true,
    description: "A file of the format `signet-organisation/1`, as `GET /configuration` answers it",
  },
);

const sentFile = strictObject(
  {
    file,
    prune: Type.Optional(
      Type.Boolean({
        description:
          "Removes records that the file does not have, in the sections that it has; default: false",
      }),
    ),
  },
  { title: "ApiConfiguration" },
);

const change = Type.Object(
  {
    act: Type.Enum(["created", "changed", "removed"]),
    kind: Type.Enum([
      ...(["organisation", "email", "scope", "application"] as const),
      ...(["organisation-consent", "preauthorization"] as const),
      ...sectionKinds,
    ]),
    name: Type.String(),
    id: Type.Optional(Type.String({ description: "Of a record that is there already" })),
    changes: Type.Array(
      Type.Object({
        member: Type.String(),
        before: Type.Optional(Type.Unknown()),
        after: Type.Optional(Type.Unknown()),
      }),
    ),
  },
  { title: "ApiConfigurationChange" },
);
const changed = Type.Object({ changes: Type.Array(change) }, { title: "ApiConfigurationChanges" });

const example = {
  file: { format: "signet-organisation/1", policies: { passwordMinLength: 15 } },
  prune: false,
} as const;

const shared = {
  ...{ tag: "API v1: configuration", credential: "access-token" },
} as const satisfies Partial<Operation>;

export function apiConfigurationRoutes(api: ApiScope, deps: ApiDeps): void {
  apiRoute(api, {
    ...shared,
    ...{ method: "GET", path: "/api/v1/organisations/:org/configuration", query: noParameters },
    operationId: "apiReadConfiguration",
    summary: "Get the organisation's configuration, without secrets and users",
    description: `${scopeText(reads)} 409: the organisation has more than a file can have.`,
    answers: { 200: { description: "The file", schema: file }, 304: { description: "Unchanged" } },
    errors: [409],
    authenticator: apiAuthenticator(deps, ...reads),
    handler: async ({ caller, request }) => {
      const orgId = caller.organisation.id;
      const exported = await deps.database.transaction((tx) => exportOrganisation(tx, orgId)).catch(toAnswer);
      if (!exported) throw notFound();
      const headers = { etag: tagOf(exported.file) };
      if (isUnchanged(request, headers.etag)) return { status: 304, headers };
      return { status: 200, headers, body: exported.file };
    },
  });
  diffRoute(api, deps);
  applyRoute(api, deps);
}

/** Large bodies are read of callers alone who may send them. */
const large = (deps: ApiDeps, ...scopes: readonly Scope[]) => ({
  ...authenticatedFirst(apiAuthenticator(deps, ...scopes)),
  bodyLimit: MAX_FILE_BYTES,
});

function diffRoute(api: ApiScope, deps: ApiDeps): void {
  apiRoute(api, {
    ...shared,
    ...{ method: "POST", path: "/api/v1/organisations/:org/configuration/diff" },
    ...{ query: noParameters, body: sentFile, example },
    operationId: "apiCompareConfiguration",
    summary: "Show what applying a file would change; changes nothing",
    description: `${scopeText(reads)} No changes: the organisation is as the file says. What applying would refuse whoever does it is refused here too, by the same answer; what the caller lacks is not looked at.`,
    answers: { 200: { description: "What would change", schema: changed } },
    ...large(deps, ...reads),
    handler: async ({ caller, body, within }) => {
      const { file: wanted, prune } = await readFile(deps, body);
      return inTransaction(deps, within, async (inside) => {
        const check = (difference: Difference) => requireWay(deps, difference);
        const rehearsed = { ...actOf(caller), file: wanted, prune, check };
        const entries = await rehearseFile(inside, rehearsed).catch(toAnswer);
        return { status: 200, body: answer(entries) };
      });
    },
  });
}

function applyRoute(api: ApiScope, deps: ApiDeps): void {
  apiRoute(api, {
    ...shared,
    ...{ method: "POST", path: "/api/v1/organisations/:org/configuration/apply" },
    ...{ query: noParameters, body: sentFile, example },
    operationId: "apiApplyConfiguration",
    summary: "Apply a file, all of it or nothing",
    description: `${scopeText(writes)} Scopes that begin with \`signet:\` are given to no application by a caller without them.`,
    answers: { 200: { description: "What was changed", schema: changed } },
    ...large(deps, ...writes),
    handler: async ({ caller, body, within }) => {
      const { file: wanted, prune } = await readFile(deps, body);
      return inTransaction(deps, within, async (inside) => {
        const check = (difference: Difference) => {
          requireMayApply(caller, difference);
          requireWay(deps, difference);
          const { settings, changes } = difference.organisation;
          // Whoever is in a group has its roles.
          if (changes.some(({ member }) => member === "policies.signUp") && settings.signUp.groups.length > 0)
            requireHeld(caller, "signet:groups:write");
        };
        const applying = { ...actOf(caller), file: wanted, prune, check };
        const entries = await applyFile(inside, applying).catch(toAnswer);
        return { status: 200, body: answer(entries) };
      });
    },
  });
}

/** @throws ApiError 422 */
function requireWay(deps: ApiDeps, { organisation: { settings, changes } }: Difference): void {
  if (changes.some(({ member }) => member === "policies.signInMethods"))
    requireWayIn(deps, "/file/policies/signInMethods", settings.signInMethods);
}

const answer = (entries: readonly Entry[]) => ({ changes: entries.filter(isDone) });

/** @throws ApiError 422 naming every fault */
const readFile = async (
  rules: ApplicationRules,
  body: Static<typeof sentFile>,
): Promise<{ file: OrganisationFile; prune: boolean }> => ({
  file: await inPortions(checkedFile(body.file, rules)).catch(toAnswer),
  prune: body.prune ?? false,
});

/** The same as of each record alone. @throws ApiError 403 exceeds-caller, 409 own-application */
function requireMayApply(caller: ApiCaller, difference: Difference): void {
  const { applications } = difference;
  requireMayTrust(caller, difference);
  for (const { step, organisationConsent, preauthorizations } of applications) {
    const before = "current" in step ? step.current.application.settings.allowedScopes : [];
    const after = "wanted" in step ? step.wanted.settings.allowedScopes : [];
    if (step.act === "create" || step.act === "change") requireHeldScopes(caller, before, after);
    for (const grant of [...organisationConsent, ...preauthorizations])
      if (grant.act === "create" || grant.act === "change") requireHeldScopes(caller, grant.wanted);
    const isEnded = step.act === "remove" || (step.act === "change" && !step.wanted.enabled);
    if (isEnded) requireOther(caller, step.current.application.id);
  }
}

/** Who trusts an issuer, or an authority, gives away what the clients have for which it speaks. @throws ApiError 403 exceeds-caller */
function requireMayTrust(caller: ApiCaller, difference: Difference): void {
  const written = (name: SectionName) =>
    difference.sections
      .filter((one) => one.name === name)
      .flatMap(({ steps }) => steps)
      .flatMap((step): readonly FileRecord[] => {
        if (step.act === "create") return [step.wanted];
        return step.act === "change" ? [step.current.record, step.wanted] : [];
      });
  for (const { kind, clientId } of written("trusts"))
    if (kind === "workload" && typeof clientId === "string")
      requireHeldScopes(caller, scopesOfClient(difference, clientId));
  if (written("clientCertificateAuthorities").length === 0) return;
  const named = difference.applications
    .flatMap(settingsOfStep)
    .filter(
      (settings) =>
        settings.tokenEndpointAuthMethod === "tls_client_auth" &&
        certificateNames.some((name) => settings[name] !== undefined),
    );
  for (const { allowedScopes } of named) requireHeldScopes(caller, allowedScopes);
}

/** Before and after. */
const settingsOfStep = ({ step }: ApplicationStep): ApplicationSettings[] => [
  ...("current" in step ? [step.current.application.settings] : []),
  ...("wanted" in step ? [step.wanted.settings] : []),
];

/** Of a client that no file has, such as the command line's: every scope of the API. */
function scopesOfClient({ applications, references }: Difference, name: string): readonly string[] {
  const { id, index } = references.locate(name);
  const found =
    index === undefined
      ? applications.find(({ step }) => "current" in step && step.current.application.id === id)
      : applications[index];
  return found ? settingsOfStep(found).flatMap(({ allowedScopes }) => allowedScopes) : apiScopes;
}

function toAnswer(error: unknown): never {
  if (error instanceof ConfigurationChanged) throw conflict(error.message);
  if (error instanceof ConfigurationTooLarge) throw conflict(`${error.message}.`);
  // What the organisation has no record of: a group of new users.
  if (error instanceof InvalidSettings)
    throw invalid(
      error.faults.map(({ path, message }) => ({
        path: `/file/policies/${path.replaceAll(".", "/")}`,
        message,
      })),
    );
  if (!(error instanceof InvalidFile)) throw error;
  throw invalid(error.faults.map(({ path, message }) => ({ path: `/file${path}`, message })));
}

const scopeText = (scopes: readonly Scope[]): string =>
  `Scope: ${scopes.map((scope) => `\`${scope}\``).join(", ")}.`;
