/** What needs no browser: settings are sentences, and a page is rendered on a server as one that loads. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { createElement } from "react";
import { renderToString } from "react-dom/server";
import { createSignetClient, SignedIn, SignedOut, SignetProvider, useSignet, useUser } from "./index.ts";

const options = { issuer: "https://id.example/oauth/acme", clientId: "orders" };

test("settings are checked at once, and named", () => {
  for (const [wrong, message] of [
    [{ issuer: "id.example" }, /issuer must be the issuer's URL/],
    [{ issuer: "https://id.example?x" }, /issuer must be/],
    [{ clientId: "" }, /clientId is missing/],
    [{ scope: "email" }, /scope must include openid/],
  ] as const)
    assert.throws(() => createSignetClient({ ...options, ...wrong }), { code: "configuration", message });
});

test("without a browser nothing is asked, and a call says so", async () => {
  const client = createSignetClient(options);
  assert.equal(client.state().status, "loading");
  assert.throws(() => client.start(), { code: "configuration", message: /no browser/ });
  await assert.rejects(client.getAccessToken(), { code: "configuration" });
});

test("a server renders what loads, neither of both sides", () => {
  const Status = () => createElement("p", null, useSignet().status, useUser()?.email);
  const html = renderToString(
    createElement(
      SignetProvider,
      options,
      createElement(Status),
      createElement(SignedIn, null, "in"),
      createElement(SignedOut, null, "out"),
    ),
  );
  assert.equal(html, "<p>loading</p>");
});

test("hooks outside of a provider say what is missing", () => {
  const Lost = () => createElement("p", null, useUser()?.email);
  assert.throws(() => renderToString(createElement(Lost)), {
    code: "configuration",
    message: /no SignetProvider/,
  });
});
