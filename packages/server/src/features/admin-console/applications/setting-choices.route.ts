/** What fields of settings offer: the organisation's scopes and pools; checks/{name}: a value, checked while it is typed. */
import type { ClientType } from "@signet/protocol/oauth/redirect-uri";
import type { FastifyInstance } from "fastify";
import type { Application } from "../../../core/applications/application.ts";
import { apiScopes } from "../../../core/scopes/api-scopes.ts";
import { listCustomScopes } from "../../../core/scopes/scopes.store.ts";
import { signalScopes, standardScopes, withoutCustom } from "../../../core/scopes/scopes.ts";
import { listAllPools } from "../../../core/signing-pools/signing-pool.store.ts";
import { NotFound } from "../../../http/errors.ts";
import { parseQuery } from "../../../http/form-body.ts";
import { pageMessages } from "../../../page-kit/console-frame.ts";
import {
  type ConsoleDeps,
  consolePath,
  consoleRoute,
  pathParams,
  queryString,
  requireAdministrator,
  type Visit,
} from "../../../page-kit/page.ts";
import { checkNames, checkValue, type FieldSource } from "./setting-field.ts";

export function settingChecksRoute(app: FastifyInstance, deps: ConsoleDeps): void {
  consoleRoute(app, deps, "/oauth/manage/:org/checks/:name", { get: sendCheck });
}

/** Scopes beyond these are typed instead of ticked. */
const MAX_SCOPE_BOXES = 40;

export async function fieldChoices(
  { database }: Pick<ConsoleDeps, "database">,
  { organisation }: Visit,
  { clientType }: Pick<Application, "clientType">,
): Promise<Pick<FieldSource, "scopes" | "pools" | "checkUri" | "clientType">> {
  const all = await listCustomScopes(database.query, organisation.id);
  const standard = withoutCustom(standardScopes, all).map((name) => ({ name, kind: "standard" as const }));
  // What gives access to the API, or to streams of events, is for clients that keep a secret.
  const ofApi = clientType === "confidential" ? withoutCustom([...apiScopes, ...signalScopes], all) : [];
  const custom = all.slice(0, MAX_SCOPE_BOXES);
  return {
    clientType,
    scopes: [
      ...standard,
      ...custom.map(({ name, displayName: text, sensitive: isSensitive }) => ({
        ...{ name, text, isSensitive, kind: "custom" as const },
      })),
      ...ofApi.map((name) => ({ name, kind: "api" as const })),
    ],
    pools: await listAllPools(database.query, organisation.id),
    checkUri: (name) => consolePath(organisation, `/checks/${name}${queryString({ type: clientType })}`),
  };
}

const clientTypes: readonly ClientType[] = ["confidential", "public", "native", "spa"];
const MAX_VALUE_LETTERS = 8_000;

/** For scripts/checks.js, by the rules of the form. */
async function sendCheck(deps: ConsoleDeps, visit: Visit): Promise<void> {
  const { request, reply, organisation } = visit;
  const signedIn = await requireAdministrator(deps, visit, consolePath(organisation));
  const name = checkNames.find((one) => one === pathParams(visit)["name"]);
  if (name === undefined) throw new NotFound("check");
  const { values } = parseQuery(request);
  const type = clientTypes.find((one) => one === values.get("type")) ?? "confidential";
  const value = (values.get("value") ?? "").slice(0, MAX_VALUE_LETTERS);
  const result = checkValue(name, value, type, pageMessages(visit, signedIn));
  await reply.header("cache-control", "no-store").send(result);
}
