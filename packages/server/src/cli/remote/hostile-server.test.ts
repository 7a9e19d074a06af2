import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { runInProcess } from "../../testing/command-line.ts";

const CONTROL = "\u001b]0;pwned\u0007\u009b2J";

/** What a server answers must not control the operator's terminal. */
test("control characters of a server's answers do not reach the terminal", async (t) => {
  let answer = { status: 200, body: "" };
  const server = createServer((request, response) => {
    const isDeletion = request.method === "DELETE";
    response.writeHead(isDeletion ? 204 : answer.status, { "content-type": "application/json" });
    response.end(isDeletion ? undefined : answer.body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => new Promise((resolve) => server.close(resolve)));
  const id = crypto.randomUUID();
  const show = async (status: number, body: string, ...args: string[]) => {
    answer = { status, body };
    const { port } = server.address() as AddressInfo;
    const at = ["--server", `http://127.0.0.1:${port}`, "--token", "t", "--org", id];
    const { out, err } = await runInProcess([...args, ...at], {});
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
    assert.doesNotMatch(out + err, /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
    return out + err;
  };

  await t.test("in an error", async () => {
    const problem = { type: "urn:signet:error:conflict", title: `No${CONTROL}`, detail: `never${CONTROL}` };
    assert.match(await show(409, JSON.stringify(problem), "group", "show", id), /No\?\]0;pwned.*never/);
  });
  await t.test("in what is no JSON", async () => {
    assert.match(await show(200, `${CONTROL}no`, "group", "show", id), /can't reach .*is not valid JSON/);
  });
  await t.test("in a name", async () => {
    const group = JSON.stringify({ id, displayName: `Name${CONTROL}`, email: `a${CONTROL}` });
    assert.match(await show(200, group, "group", "delete", id, "--yes"), /Deleted "Name\?/);
    assert.match(await show(200, group, "user", "sign-out", "--id", id), /a\?.* is signed out everywhere/);
  });
});
