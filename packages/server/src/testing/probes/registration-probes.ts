/** Clients that register themselves: a token of one organisation is none at another. */
import assert from "node:assert/strict";
import { initialAccessTokenSettings } from "../../core/client-registration/initial-access-token-schemas.ts";
import { createInitialAccessToken } from "../../core/client-registration/initial-access-tokens.ts";
import type { Service } from "../../modules/open-service.ts";
import { registration } from "../fixtures/registration.ts";
import type { TestOrganisation } from "../test-service.ts";

interface World {
  readonly service: Service;
  readonly a: TestOrganisation;
  readonly b: TestOrganisation;
}

const metadata = { client_name: "Agent", redirect_uris: ["https://agent.example/callback"] };

async function initialToken({ service, a }: World): Promise<string> {
  const times = { now: service.clock(), readTime: () => undefined };
  const act = { orgId: a.organisation.id, actor: "test" };
  const settings = initialAccessTokenSettings({ maxUses: 2 }, times);
  return (await createInitialAccessToken(service, { ...act, settings })).token;
}

const own = (method: string, status: number) => async (world: World) => {
  const { a, b } = world;
  const made = await registration("POST", `${a.issuer}/register`, await initialToken(world), metadata);
  const [id, token] = [made.body["client_id"], String(made.body["registration_access_token"])];
  const sent = method === "PUT" ? { ...metadata, client_id: id } : undefined;
  assert.equal((await registration(method, `${b.issuer}/register/${id}`, token, sent)).status, 401);
  assert.equal((await registration(method, `${a.issuer}/register/${id}`, token, sent)).status, status);
};

/** For every origin, and without a word on who is registered. */
const open =
  (path: string) =>
  async ({ a, b }: World) => {
    for (const { issuer } of [a, b]) {
      const answer = await fetch(`${issuer}/${path}`, {
        method: "OPTIONS",
        headers: { origin: "https://a.example" },
      });
      assert.deepEqual([answer.status, answer.headers.get("access-control-allow-origin")], [204, "*"]);
    }
  };

export const registrationProbes = {
  "OPTIONS /oauth/:org/register": open("register"),
  "OPTIONS /oauth/:org/register/:clientId": open(`register/${crypto.randomUUID()}`),
  "POST /oauth/:org/register": async (world: World) => {
    const token = await initialToken(world);
    const { a, b } = world;
    assert.equal((await registration("POST", `${b.issuer}/register`, token, metadata)).status, 401);
    assert.equal((await registration("POST", `${a.issuer}/register`, token, metadata)).status, 201);
  },
  "GET /oauth/:org/register/:clientId": own("GET", 200),
  "PUT /oauth/:org/register/:clientId": own("PUT", 200),
  "DELETE /oauth/:org/register/:clientId": own("DELETE", 204),
};
