import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import { collectCodes } from "../load/collect-codes.ts";
import { readForm } from "./bare-http.ts";
import { filledForm, signIn } from "./signet-browser.ts";

const redirectUri = "https://app.example/callback";

test("a page's form keeps its hidden fields and takes only the answers that it asks for", () => {
  const page = `<form action="/login?a=1&amp;b=2" method="post"><input type="hidden" name="csrf" value="c&amp;d">
    <input name="email" type="email"><button name="decision" value="deny">No</button></form>`;
  const { url, form } = filledForm(page, "http://localhost/x", {
    email: "a@b",
    password: "p",
    decision: "allow",
  });
  assert.equal(url, "http://localhost/login?a=1&b=2");
  assert.deepEqual(Object.fromEntries(form), { csrf: "c&d", email: "a@b", decision: "allow" });
});

/** A sign-in of one page: with the right fields it sets a session and goes back, with a session at once. */
async function serve(context: TestContext): Promise<number> {
  let codes = 0;
  const server = createServer((request, response) => {
    const goBack = (headers: Record<string, string>) => {
      codes += 1;
      response
        .writeHead(303, { ...headers, "content-length": 0, location: `${redirectUri}?code=c${codes}` })
        .end();
    };
    if (request.headers.cookie === "session=s1") return goBack({});
    readForm(request, (form) => {
      if (form["password"] === "right" && form["flow"] === "f1")
        return goBack({ "set-cookie": "session=s1; Path=/" });
      const body = '<form><input type="hidden" name="flow" value="f1"><input name="password"></form>';
      response.writeHead(200, { "content-length": body.length }).end(body);
    });
  }).listen(0, "127.0.0.1");
  context.after(() => server.close());
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

test("a sign-in ends at the application's address with the session's cookie, which then gives codes", async (context) => {
  const port = await serve(context);
  const session = await signIn(`http://127.0.0.1:${port}/`, redirectUri, { password: "right" });
  assert.equal(session.cookie, "session=s1");
  const codes = await collectCodes(port, "/", session.cookie, 40);
  assert.equal(new Set(codes).size, 40);
});

test("a sign-in that gets nowhere and an answer without a code are refused", async (context) => {
  const port = await serve(context);
  await assert.rejects(
    signIn(`http://127.0.0.1:${port}/`, redirectUri, { password: "wrong" }),
    /did not come back/,
  );
  await assert.rejects(collectCodes(port, "/", "session=none", 3), /no code: 200/);
});
