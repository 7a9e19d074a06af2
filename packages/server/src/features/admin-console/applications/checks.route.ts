/** GET checks/{name}: what the server says of a value while it is typed (scripts/checks.js), by the rules of the form. */

import type { ClientType } from "@signet/protocol/oauth/redirect-uri";
import type { FastifyInstance } from "fastify";
import { NotFound } from "../../../http/errors.ts";
import { queryOf } from "../../../http/form-body.ts";
import { readerMessages } from "../../../page-kit/reader-language.ts";
import { administratorHere, type ConsoleDeps, consolePath, consoleRoute } from "../../../page-kit/visit.ts";
import { type CheckName, checkedValue } from "./setting-field.ts";

const names: readonly CheckName[] = ["redirect-uris", "return-urls", "seconds"];
const types: readonly ClientType[] = ["confidential", "public", "native", "spa"];
const LONGEST = 8_000;

export function checksRoute(app: FastifyInstance, deps: ConsoleDeps): void {
  consoleRoute(app, deps, "/checks/:name", {
    get: async (visit) => {
      const { request, reply, organisation } = visit;
      const signedIn = await administratorHere(deps, visit, consolePath(organisation));
      if (!signedIn) return;
      const asked = (request.params as { name: string }).name;
      const name = names.find((one) => one === asked);
      if (name === undefined) throw new NotFound("check");
      const { values } = queryOf(request);
      const type = types.find((one) => one === values.get("type")) ?? "confidential";
      const value = (values.get("value") ?? "").slice(0, LONGEST);
      const answer = checkedValue(name, value, type, readerMessages(request, signedIn.user, organisation));
      await reply.header("cache-control", "no-store").send(answer);
    },
  });
}
