/** API v1 at another organisation than that of the token. */
import assert from "node:assert/strict";
import type { Service } from "../../modules/open-service.ts";
import { makeApiClient } from "../fixtures/api-client.ts";
import type { TestOrganisation } from "../test-service.ts";

interface Loot {
  readonly service: Service;
  readonly a: TestOrganisation;
  readonly b: TestOrganisation;
}

const userProbe =
  (method: string, body?: object) =>
  async ({ service, a, b }: Loot): Promise<void> => {
    const client = await makeApiClient(service, a, ["signet:users:write"]);
    const options = body ? { body } : {};
    assert.equal((await client.call(method, `/users/${a.user.id}`, options)).status, 200);
    for (const user of [a.user, b.user]) {
      const orgId = b.organisation.id;
      assert.equal((await client.call(method, `/users/${user.id}`, { ...options, orgId })).status, 404);
    }
    assert.equal((await client.call(method, `/users/${b.user.id}`, options)).status, 404);
  };

const USER = "/api/v1/organisations/:org/users/:id";

export const apiProbes = {
  [`GET ${USER}`]: userProbe("GET"),
  [`PATCH ${USER}`]: userProbe("PATCH", { nickname: "Uma" }),
};
