import assert from "node:assert/strict";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, describe, test } from "node:test";
import { CallFailed, type Connections, openConnections } from "./json-call.ts";

describe("a call", () => {
  let server: Server;
  let url: string;
  let answer: (response: ServerResponse) => void;
  before(async () => {
    server = createServer((_, response) => answer(response)).listen(0, "127.0.0.1");
    await once(server, "listening");
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  });
  after(() => {
    server.closeAllConnections();
    server.close();
  });

  async function withConnections<T>(use: (connections: Connections) => Promise<T>): Promise<T> {
    const connections = openConnections();
    return await use(connections).finally(connections.close);
  }
  const get = { method: "GET", timeoutMs: 30_000 } as const;
  /** Once the caller has the head of the next answer: what was written may still be on its way to it. */
  const answerBegins = (then: () => void) => {
    const channel = "http.client.response.finish";
    const heard = () => {
      unsubscribe(channel, heard);
      setImmediate(then);
    };
    subscribe(channel, heard);
  };

  test("that is given up is cut off while nothing has come, and read to its end when something has", () =>
    withConnections(async ({ call }) => {
      const early = new AbortController();
      answer = () => early.abort();
      await assert.rejects(call({ ...get, url, signal: early.signal }), CallFailed);
      const late = new AbortController();
      answer = (response) => {
        response.write('{"a":');
        late.signal.addEventListener("abort", () => response.end("1}"));
        answerBegins(() => late.abort());
      };
      assert.deepEqual((await call({ ...get, url, signal: late.signal })).body, { a: 1 });
      answer = (response) => response.end("{}");
      await assert.rejects(call({ ...get, url, signal: late.signal }), CallFailed, "given up before");
    }));

  test("ends with its connections, and there is none after that", () =>
    withConnections(async ({ call, close }) => {
      answer = (response) => {
        response.write("{");
        setTimeout(close, 20);
      };
      await assert.rejects(call({ ...get, url }), CallFailed);
      answer = (response) => response.end("{}");
      await assert.rejects(call({ ...get, url }), /are closed/);
    }));

  test("that waits for its turn ends with its connections too", async () => {
    const { call, close } = openConnections(1);
    answer = () => {
      answer = (response) => response.end("{}");
      setTimeout(close, 20);
    };
    const both = await Promise.allSettled([call({ ...get, url }), call({ ...get, url })]);
    assert.deepEqual(
      both.map(({ status }) => status),
      ["rejected", "rejected"],
    );
  });

  test("takes no longer than it may, and no more than it can hold", () =>
    withConnections(async ({ call }) => {
      answer = (response) => response.write("{");
      await assert.rejects(call({ ...get, url, timeoutMs: 50 }), /no answer within 0.05 s/);
      answer = (response) => response.end(JSON.stringify({ a: "x".repeat(300_000) }));
      await assert.rejects(call({ ...get, url }), /more than 262144 bytes/);
    }));

  test("reads the largest answer of the strangest form in no time", () =>
    withConnections(async ({ call }) => {
      const texts = ["[".repeat(260_000), `{"a":"${"\\\\".repeat(120_000)}"}`, `{${'"a":{'.repeat(50_000)}`];
      for (const text of texts) {
        answer = (response) => response.end(text);
        const began = performance.now();
        await call({ ...get, url });
        assert.ok(performance.now() - began < 4_000);
      }
    }));
});
