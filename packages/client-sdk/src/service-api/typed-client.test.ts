import assert from "node:assert/strict";
import { test } from "node:test";
import type { LegacyCalls } from "../legacy-api/legacy-calls.ts";
import type { Client } from "../management/generated/clients.ts";
import type { ManagementCalls } from "../management/management-calls.ts";
import type { ServiceCall, ServiceClient } from "./service-client.ts";
import { typedClient } from "./typed-client.ts";

function recorded(...bodies: unknown[]) {
  const asked: ServiceCall[] = [];
  const call: ServiceClient = async (one) => {
    asked.push(one);
    return { request: "", status: 200, headers: new Headers(), body: bodies[asked.length - 1] };
  };
  return { asked, ...typedClient<ManagementCalls>(call) };
}

test("path values stay in their segment", async () => {
  const { asked, call } = recorded();
  await call("GET /legacy/api/oauth/clients/{clientId}", { path: { clientId: "a/../b?c#d%e" } });
  assert.equal(asked[0]?.target, "/legacy/api/oauth/clients/a%2F..%2Fb%3Fc%23d%25e");
  for (const clientId of ["", ".", ".."])
    await assert.rejects(call("DELETE /legacy/api/oauth/clients/{clientId}", { path: { clientId } }), {
      code: "request_malformed",
    });
  assert.equal(asked.length, 1);
});

test("a POST is repeatable with an Idempotency-Key, everything else always", async () => {
  const { asked, call } = recorded();
  const path = { clientId: "1" };
  await call("GET /legacy/api/oauth/clients/{clientId}", { path });
  await call("DELETE /legacy/api/oauth/clients/{clientId}", { path });
  await call("POST /legacy/api/oauth/scopes", { body: { name: "x" } });
  await call("POST /legacy/api/oauth/scopes", { body: { name: "x" }, headers: { "idempotency-key": "k" } });
  await call("GET /legacy/api/oauth/clients/{clientId}", { path, isRepeatable: false });
  assert.deepEqual(
    asked.map(({ isRepeatable }) => isRepeatable),
    [true, true, false, true, false],
  );
});

const page = (ids: string[], nextCursor: string | null) => ({
  items: ids.map((clientId) => ({ clientId })),
  nextCursor,
});

test("a list is requested page by page, only as far as it is read", async () => {
  const all = recorded(page(["1", "2"], "c 1"), page([], "c2"), page(["3"], null));
  const list = all.list("GET /legacy/api/oauth/clients", {}, { pageSize: 2 });
  assert.equal(all.asked.length, 0);
  assert.deepEqual(
    (await list.toArray()).map(({ clientId }) => clientId),
    ["1", "2", "3"],
  );
  const targets = all.asked.map(({ target }) => target.split("?")[1]);
  assert.deepEqual(targets, ["limit=2", "limit=2&cursor=c+1", "limit=2&cursor=c2"]);

  const some = recorded(page(["1", "2"], "c1"), page(["3"], null));
  for await (const { clientId } of some.list("GET /legacy/api/oauth/clients", {}))
    if (clientId === "2") break;
  assert.deepEqual(
    some.asked.map(({ target }) => target),
    ["/legacy/api/oauth/clients"],
  );
  const { items, nextCursor } = await some.list("GET /legacy/api/oauth/clients", {}).page("c1");
  assert.deepEqual([items.length, nextCursor], [1, null]);
});

test("a repeated page ends the iteration", async () => {
  const same = recorded(page(["1"], "c1"), page(["1"], "c1"), page(["1"], "c1"));
  await assert.rejects(same.list("GET /legacy/api/oauth/clients", {}).toArray(), { code: "provider_answer" });
  assert.equal(same.asked.length, 2);
  const round = recorded(page(["1"], "c1"), page(["2"], "c2"), page(["1"], "c1"), page(["2"], "c2"));
  await assert.rejects(round.list("GET /legacy/api/oauth/clients", {}).toArray(), {
    code: "provider_answer",
  });
  assert.equal(round.asked.length, 3);
  for (const body of [undefined, {}, { items: [] }, { items: {}, nextCursor: null }])
    await assert.rejects(recorded(body).list("GET /legacy/api/oauth/clients", {}).toArray(), {
      code: "provider_answer",
    });
});

// Types that let everything pass would prove nothing: each of these must be refused by the compiler.
export async function refused(
  management: ReturnType<typeof recorded>,
  legacy: ReturnType<typeof typedClient<LegacyCalls>>,
) {
  const client: Client = await management.call("GET /legacy/api/oauth/clients/{clientId}", {
    path: { clientId: "" },
  });
  // @ts-expect-error a route that is not there
  await management.call("GET /legacy/api/oauth/clientz", {});
  // @ts-expect-error the path needs its parameter
  await management.call("GET /legacy/api/oauth/clients/{clientId}", {});
  // @ts-expect-error another parameter
  await management.call("GET /legacy/api/oauth/clients/{clientId}", { path: { id: "" } });
  // @ts-expect-error the body is missing
  await management.call("POST /legacy/api/oauth/clients", {});
  // @ts-expect-error no such type of client
  await management.call("POST /legacy/api/oauth/clients", { body: { name: "x", clientType: "desktop" } });
  // @ts-expect-error a route without a body
  await management.call("DELETE /legacy/api/oauth/scopes/{id}", { path: { id: "" }, body: {} });
  // @ts-expect-error one record is no list
  management.list("GET /legacy/api/oauth/scopes/{id}", { path: { id: "" } });
  // @ts-expect-error users are written in PascalCase
  (await legacy.call("POST /legacy/api/users/get", { body: { email: "" } })).body.email;
  return client;
}
