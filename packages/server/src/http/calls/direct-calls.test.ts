import assert from "node:assert/strict";
import { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";
import { test } from "node:test";
import { directCalls } from "./direct-calls.ts";

const ID = `${"0".repeat(8)}-0000-4000-8000-${"0".repeat(12)}`;

function directAlone() {
  const calls = directCalls({
    ...{
      idOf: () => "",
      parentOf: () => undefined,
      bodyLimit: 10,
      headers: [],
      errorAnswer: assert.fail,
      fail: assert.ifError,
    },
    ...{ during: (_request, work) => work(), log: () => {} },
  });
  const take = (url: string, headers: Record<string, string> = {}) => {
    const request = new IncomingMessage(new Socket());
    Object.assign(request, { method: "GET", url, headers });
    return calls.answer(request, new ServerResponse(request));
  };
  return { calls, take };
}

test("a service that is closing leaves every request to the framework, which then closes the connection", () => {
  const { calls, take } = directAlone();
  calls.add("GET", "/oauth/:org/userinfo", async () => ({ status: 200, headers: [], body: "" }));
  assert.equal(take(`/oauth/${ID}/userinfo`), true);
  calls.close();
  assert.equal(take(`/oauth/${ID}/userinfo`), false);
});

test("a path is taken with an id for each parameter, by its name, and not with anything in an id's place", async () => {
  const { calls, take } = directAlone();
  const seen: unknown[] = [];
  calls.add("GET", "/api/:org/users/:id", async ({ params }) => {
    seen.push(params);
    return { status: 200, headers: [], body: "" };
  });
  const other = ID.replace("0", "1");
  assert.equal(take(`/api/${ID}/users/${other}`), true);
  await new Promise(setImmediate);
  assert.deepEqual(seen, [{ org: ID, id: other }]);
  const others = [`/api/:/users/${ID}`, "/api/:/users/:", `/api/${ID}/users/${ID}/`, `/api/${ID}/users/x`];
  others.push(`/api/${ID}/users/${ID}?`, `/api/${ID}x/users/${ID}`, `//api/${ID}/users/${ID}`);
  others.push(`/api/${ID}/users/${ID.replaceAll("0", "A")}`, `/api/${ID}/users/${ID}${"/".repeat(200)}`);
  for (const url of others) assert.equal(take(url), false, url);
  for (const headers of [{ origin: "null" }, { "content-length": "0" }, { "transfer-encoding": "chunked" }])
    assert.equal(take(`/api/${ID}/users/${ID}`, headers as Record<string, string>), false);
});
