/** Operators by API v1. */
import assert from "node:assert/strict";
import { createOrganisation } from "../../core/organisations/organisations.ts";
import type { OperatorScope } from "../../core/scopes/api-scopes.ts";
import { makeApiClient } from "../fixtures/api-client.ts";
import { makeOperator } from "../fixtures/operator.ts";
import type { ApiCase, ApiCases, ApiWorld } from "./api-operation.ts";
import { wrongBodies, wrongLists } from "./api-v1.ts";

interface OperatorRow {
  readonly scope: OperatorScope;
  readonly status: number;
  readonly body?: object;
  readonly wrong?: readonly unknown[];
  readonly wrongQueries?: readonly string[];
  /** The call names an organisation, which is made for it. */
  readonly isOfOne?: true;
}

const write = "signet:organisations:write" as const;
const act = { scope: write, status: 200, wrong: wrongBodies, isOfOne: true } as const;

/** By method and path below `/api/v1/organisations`. */
export const operatorRows: Readonly<Record<string, OperatorRow>> = {
  "GET ": { scope: "signet:organisations:read", status: 200, wrongQueries: wrongLists },
  "POST ": { scope: write, status: 201, body: { name: "New" }, wrong: [...wrongBodies, {}, { name: " " }] },
  "POST /:org/suspend": act,
  "POST /:org/resume": act,
  "POST /:org/restore": act,
  "DELETE /:org": { scope: write, status: 202, wrong: [{}], isOfOne: true },
};

/** Of organisations that no other case looks at. */
export const operatorPath = async ({ service }: ApiWorld, path: string): Promise<string> => {
  if (!path.includes(":org")) return path;
  const input = { name: "Ends", actor: "test" };
  const { id } = await service.database.transaction((tx) => createOrganisation(service, tx, input));
  return path.replace(":org", id);
};

function operatorCase(method: string, template: string, row: OperatorRow): ApiCase {
  const { scope, status, body, wrong = [], wrongQueries = [], isOfOne } = row;
  const options = body ? { body } : {};
  const refused = async (world: ApiWorld, wanted: number, scopes: readonly ("r" | "other")[]) => {
    const names = scopes.includes("r")
      ? (["signet:organisations:read"] as const)
      : (["signet:organisation:write"] as const);
    const one = await makeOperator(world.service, names);
    const answer = await one.call(method, await operatorPath(world, template), options);
    assert.equal(answer.status, wanted, JSON.stringify(answer.body));
  };
  return {
    happy: async (world) => {
      const operator = await makeOperator(world.service, [scope]);
      const answer = await operator.call(method, await operatorPath(world, template), options);
      assert.equal(answer.status, status, JSON.stringify(answer.body));
    },
    unauthenticated: async (world) => {
      const operator = await makeOperator(world.service, [scope]);
      const path = await operatorPath(world, template);
      for (const accessToken of ["", "x", `${operator.accessToken}x`])
        assert.equal((await operator.call(method, path, { ...options, accessToken })).status, 401);
    },
    foreign: async (world) => {
      const { accessToken } = await makeApiClient(world.service, world.b, ["signet:organisation:write"]);
      const operator = await makeOperator(world.service, [scope]);
      const path = await operatorPath(world, template);
      const answer = await operator.call(method, path, { ...options, accessToken });
      assert.equal(answer.status, isOfOne ? 404 : 403, JSON.stringify(answer.body));
    },
    forbidden: async (world) => {
      await refused(world, 403, ["other"]);
      if (scope === write) await refused(world, 403, ["r"]);
    },
    malformed: async (world) => {
      const operator = await makeOperator(world.service, [scope]);
      const path = await operatorPath(world, template);
      const refuse = async (at: string, sent: object) => {
        const answer = await operator.call(method, at, sent);
        assert.ok([400, 422].includes(answer.status), `${at}: ${answer.status}`);
      };
      await refuse(`${path}?unknown=1`, options);
      for (const one of wrong) await refuse(path, { body: one });
      for (const query of wrongQueries) await refuse(`${path}?${query}`, options);
    },
  };
}

export const apiOperatorCases: ApiCases = Object.fromEntries(
  Object.entries(operatorRows).map(([route, row]) => {
    const [method = "", path = ""] = route.split(" ");
    return [`${method} /api/v1/organisations${path}`, operatorCase(method, path, row)];
  }),
);
