import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import { runInProcess } from "../../testing/command-line.ts";
import { recordApi } from "./record-api.ts";

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
  await t.test("in an exported line", async () => {
    for (const format of ["jsonl", "csv"]) {
      const shown = await show(200, `{"a":"b${CONTROL}"}`, "audit", "export", "--format", format);
      assert.match(shown, /"b\\u001b\]0;pwned\\u0007\\u009b2J"/);
    }
  });
  await t.test("in a name", async () => {
    const group = JSON.stringify({ id, displayName: `Name${CONTROL}`, email: `a${CONTROL}` });
    assert.match(await show(200, group, "group", "delete", id, "--yes"), /Deleted "Name\?/);
    assert.match(await show(200, group, "user", "sign-out", "--id", id), /a\?.* is signed out everywhere/);
  });
});

const answering = async (t: TestContext, answer: (path: string) => { status?: number; body: unknown }) => {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const where = request.url ?? "";
    asked.push(where);
    const { status = 200, body } = answer(where);
    response.writeHead(status, { "content-type": "application/json" });
    response.end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => new Promise((resolve) => server.close(resolve)));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
};

test("the sign-in ends when the code has expired, whatever the server goes on answering", async (t) => {
  const org = crypto.randomUUID();
  for (const [codes, answers, polls] of [
    [{ expires_in: 2, interval: 1 }, ["authorization_pending"], 1],
    [{ expires_in: 3, interval: 1 }, ["slow_down"], 1],
    [{ expires_in: 1e12, interval: 1e11 }, [], 0],
    [{ expires_in: 1 }, [], 0],
  ] as const) {
    let url = "";
    const running = await answering(t, (where) => {
      if (where === "/api/v1") return { body: { operatorsIssuer: `${url}/oauth/${org}` } };
      if (where === "/token") return { status: 400, body: { error: answers[0] } };
      const device = { device_code: "d", user_code: "ABCD-EFGH", verification_uri: `${url}/verify` };
      if (where === "/device") return { body: { ...device, ...codes } };
      const endpoints = { token_endpoint: `${url}/token`, revocation_endpoint: `${url}/revoke` };
      return {
        body: { ...endpoints, issuer: `${url}/oauth/${org}`, device_authorization_endpoint: `${url}/device` },
      };
    });
    url = running.url;
    const { code, err } = await runInProcess(["login", "--server", url], { XDG_CONFIG_HOME: "/nowhere" });
    assert.deepEqual(
      [code, /nobody entered the code in time: run signet login again/.test(err)],
      [1, true],
      err,
    );
    const polled = running.asked.filter((where) => where === "/token").length;
    assert.ok(polled <= polls, `${polled} of ${polls}: ${JSON.stringify(codes)}`);
  }
});

test("a sign-in that the server starts without codes is refused", async (t) => {
  const org = crypto.randomUUID();
  for (const body of [null, {}, { device_code: "d", user_code: 1, verification_uri: "x", expires_in: 60 }]) {
    let url = "";
    const running = await answering(t, (where) => {
      if (where === "/api/v1") return { body: { operatorsIssuer: `${url}/oauth/${org}` } };
      const all = ["device_authorization_endpoint", "token_endpoint", "revocation_endpoint"];
      return { body: where === "/x" ? body : Object.fromEntries(all.map((name) => [name, `${url}/x`])) };
    });
    url = running.url;
    const { code, err } = await runInProcess(["login", "--server", url], { XDG_CONFIG_HOME: "/nowhere" });
    assert.deepEqual([code, /its answer has no codes/.test(err)], [1, true], err);
  }
});

test("a list that repeats itself, or does not end, is given up", async () => {
  const read = (next: (page: number) => string) => {
    let pages = 0;
    const api = recordApi(async () => {
      pages += 1;
      return { status: 200, body: { items: [{ id: "x" }], nextCursor: next(pages) } };
    }, crypto.randomUUID());
    return { of: (limit?: number) => api.list("/groups", { limit }), pages: () => pages };
  };
  const same = read(() => "same");
  await assert.rejects(same.of(), /the server's list \/groups does not end/);
  assert.equal(same.pages(), 2);
  const turning = read((page) => `cursor-${page % 3}`);
  await assert.rejects(turning.of(), /does not end/);
  assert.equal(turning.pages(), 4);
  await assert.rejects(read((page) => `cursor-${page}`).of(), /does not end/);
  assert.deepEqual(await read((page) => `cursor-${page}`).of(2), {
    items: [{ id: "x" }, { id: "x" }],
    more: true,
  });
});

test("a page that has more than was asked for is cut", async () => {
  const items = [{ id: "a" }, { id: "b" }, { id: "c" }];
  const api = recordApi(
    async () => ({ status: 200, body: { items, nextCursor: null } }),
    crypto.randomUUID(),
  );
  assert.deepEqual(await api.list("/groups", { limit: 2 }), { items: items.slice(0, 2), more: true });
});
