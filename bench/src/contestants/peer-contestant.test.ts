import assert from "node:assert/strict";
import { after, test } from "node:test";
import { stopChildren } from "../child.ts";
import { peerContestant } from "./peer-contestant.ts";
import { type WorkName, works } from "./works.ts";

const peer = await peerContestant();
after(stopChildren);

/** The answers to one row's request, one after the other, each with a fresh value for its changing field. */
async function ask(name: WorkName, count = 1) {
  const row = works.find((each) => each.name === name);
  assert.ok(row);
  const { port, call, seed, expectedText } = await peer.target(row);
  const values = row.seed === undefined ? [] : await seed(row.seed.kind, count);
  const send = async (value: string | undefined) => {
    const changed = row.seed === undefined || value === undefined ? {} : { [row.seed.field]: value };
    const response = await fetch(`http://127.0.0.1:${port}${call.path}`, {
      method: call.method,
      ...(call.form === undefined ? {} : { body: new URLSearchParams({ ...call.form, ...changed }) }),
    });
    // The load generator reads answers by their Content-Length.
    assert.ok(response.headers.has("content-length"));
    const text = await response.text();
    return { status: response.status, text, body: JSON.parse(text) as Record<string, unknown> };
  };
  return { values, send, expectedText };
}

for (const { name } of works) {
  test(`the peer answers the request of ${name} as the bench expects`, async () => {
    const { values, send, expectedText } = await ask(name);
    const { status, text } = await send(values[0]);
    assert.equal(status, 200, text);
    assert.ok(text.includes(expectedText), text);
  });
}

test("the peer's refresh rotates and signs once, its code exchange signs twice", async () => {
  const refresh = await ask("refresh");
  const first = await refresh.send(refresh.values[0]);
  assert.equal(first.body["id_token"], undefined);
  assert.notEqual(first.body["refresh_token"], refresh.values[0]);
  const exchange = await ask("code-exchange");
  const tokens = await exchange.send(exchange.values[0]);
  assert.match(String(tokens.body["access_token"]), /^eyJ/);
  assert.match(String(tokens.body["id_token"]), /^eyJ/);
  assert.equal((await exchange.send(exchange.values[0])).status, 400);
});

test("the peer keeps thousands of prepared codes", async () => {
  const { values, send } = await ask("code-exchange", 3000);
  assert.equal(new Set(values).size, 3000);
  assert.equal((await send(values[0])).status, 200);
});
