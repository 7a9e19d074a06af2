import assert from "node:assert/strict";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, describe, test } from "node:test";
import { CallFailed } from "@signet/cli-runtime/http";
import { type JsonClient, openJsonClient } from "./json-client.ts";

describe("a JSON call", () => {
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

  async function withClient<T>(use: (client: JsonClient) => Promise<T>): Promise<T> {
    const client = openJsonClient();
    return await use(client).finally(client.close);
  }
  const get = { method: "GET", timeoutMs: 30_000 } as const;
  /** Runs when the caller has received the head of the next answer. */
  const answerBegins = (then: () => void) => {
    const channel = "http.client.response.finish";
    const heard = () => {
      unsubscribe(channel, heard);
      setImmediate(then);
    };
    subscribe(channel, heard);
  };

  test("that is cancelled ends at once before its answer has begun, and is read to its end after that", () =>
    withClient(async ({ call }) => {
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
      await assert.rejects(
        call({ ...get, url, signal: late.signal }),
        CallFailed,
        "cancelled before it began",
      );
    }));

  test("fails when the client is closed, as does every later one", () =>
    withClient(async ({ call, close }) => {
      answer = (response) => {
        response.write("{");
        setTimeout(close, 20);
      };
      await assert.rejects(call({ ...get, url }), CallFailed);
      answer = (response) => response.end("{}");
      await assert.rejects(call({ ...get, url }), /are closed/);
    }));

  test("that waits for a connection fails too when the client is closed", async () => {
    const { call, close } = openJsonClient(1);
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

  test("is bounded in time and size", () =>
    withClient(async ({ call }) => {
      answer = (response) => response.write("{");
      await assert.rejects(call({ ...get, url, timeoutMs: 50 }), /no answer within 0.05 s/);
      answer = (response) => response.end(JSON.stringify({ a: "x".repeat(300_000) }));
      await assert.rejects(call({ ...get, url }), /more than 262144 bytes/);
    }));

  test("parses the largest and strangest answers quickly", () =>
    withClient(async ({ call }) => {
      const texts = ["[".repeat(260_000), `{"a":"${"\\\\".repeat(120_000)}"}`, `{${'"a":{'.repeat(50_000)}`];
      for (const text of texts) {
        answer = (response) => response.end(text);
        const began = performance.now();
        await call({ ...get, url });
        assert.ok(performance.now() - began < 4_000);
      }
    }));
});
