/** Calls of API v1 that succeed: those that the invariant tests make, each with records of its own. */
import { openApiPaths } from "../../packages/server/src/features/api-reference/parameters.ts";
import type { ApiWorld } from "../../packages/server/src/testing/api-operations/api-operation.ts";
import {
  operatorPath,
  operatorRows,
} from "../../packages/server/src/testing/api-operations/api-operators.ts";
import { apiV1AllCases } from "../../packages/server/src/testing/api-operations/api-v1-cases.ts";
import { fakeClock } from "../../packages/server/src/testing/fakes/fake-clock.ts";
import { makeApiClient } from "../../packages/server/src/testing/fixtures/api-client.ts";
import { makeOperator } from "../../packages/server/src/testing/fixtures/operator.ts";
import type { TestAccount } from "../../packages/server/src/testing/fixtures/system-account.ts";
import {
  makeOrganisation,
  type TestOrganisation,
  type TestService,
} from "../../packages/server/src/testing/test-service.ts";
import { bearer, type RealCalls } from "./real-calls.ts";

export async function apiV1Calls(
  { service, baseUrl }: TestService,
  a: TestOrganisation,
  account: TestAccount,
): Promise<RealCalls> {
  const accounts = {
    administratorOfA: account,
    administratorOfB: account,
    plainOfA: account,
    plainOfB: account,
  };
  const b = await makeOrganisation(service, "Neighbour");
  const world: ApiWorld = { service, baseUrl, clock: fakeClock(), a, b, ...accounts };
  const ofOperators = Object.entries(operatorRows).map(([route, { scope, body }]) => {
    const [method = "", template = ""] = route.split(" ");
    const call = async () => {
      const { accessToken } = await makeOperator(service, [scope]);
      const org = (await operatorPath(world, template)).split("/")[1];
      return {
        ...bearer(accessToken),
        ...(org === undefined ? {} : { path: { org } }),
        ...(body && { body: body as Readonly<Record<string, unknown>> }),
      };
    };
    const [path = ""] = openApiPaths(`/api/v1/organisations${template}`);
    return [`${method} ${path}`, call] as const;
  });
  return Object.fromEntries([
    ...ofOperators,
    ...Object.entries(apiV1AllCases).map(([route, { row }]) => {
      const [method, template = ""] = route.split(" ");
      const [path = template] = openApiPaths(template);
      const call = async () => {
        const { body, headers = {} } = (await row.options?.(world)) ?? {};
        const { accessToken } = await makeApiClient(service, a, row.scopes);
        return {
          ...bearer(accessToken),
          path: { org: a.organisation.id, ...valuesIn(template, await row.path(world)) },
          headers,
          ...(row.query && { query: Object.fromEntries(new URLSearchParams(row.query(world))) }),
          ...(typeof body === "object" &&
            body !== null && { body: body as Readonly<Record<string, unknown>> }),
        };
      };
      return [`${method} ${path}`, call] as const;
    }),
  ]);
}

/** @param path below the organisation's, as the template has it behind `:org` */
function valuesIn(template: string, path: string): Record<string, string> {
  const names = template.split("/:org/")[1]?.split("/") ?? [];
  const values = path.slice(1).split("/");
  return Object.fromEntries(
    names.flatMap((name, at) => (name.startsWith(":") ? [[name.slice(1), values[at] ?? ""]] : [])),
  );
}
