/** GET checks/{name}: validates a value while it is typed (scripts/checks.js), by the rules of the form. */
import type { ClientType } from "@signet/protocol/oauth/redirect-uri";
import type { FastifyInstance } from "fastify";
import { NotFound } from "../../../http/errors.ts";
import { parseQuery } from "../../../http/form-body.ts";
import { pageMessages } from "../../../page-kit/console-frame.ts";
import {
  type ConsoleDeps,
  consolePath,
  consoleRoute,
  pathParams,
  requireAdministrator,
  type Visit,
} from "../../../page-kit/page.ts";
import { type CheckName, checkValue } from "./setting-field.ts";

const names: readonly CheckName[] = ["redirect-uris", "return-urls", "seconds"];
const types: readonly ClientType[] = ["confidential", "public", "native", "spa"];
const MAX_VALUE_LETTERS = 8_000;

export function checksRoute(app: FastifyInstance, deps: ConsoleDeps): void {
  consoleRoute(app, deps, "/oauth/manage/:org/checks/:name", { get: sendCheck });
}

async function sendCheck(deps: ConsoleDeps, visit: Visit): Promise<void> {
  const { request, reply, organisation } = visit;
  const signedIn = await requireAdministrator(deps, visit, consolePath(organisation));
  const name = names.find((one) => one === pathParams(visit)["name"]);
  if (name === undefined) throw new NotFound("check");
  const { values } = parseQuery(request);
  const type = types.find((one) => one === values.get("type")) ?? "confidential";
  const value = (values.get("value") ?? "").slice(0, MAX_VALUE_LETTERS);
  const result = checkValue(name, value, type, pageMessages(visit, signedIn));
  await reply.header("cache-control", "no-store").send(result);
}
