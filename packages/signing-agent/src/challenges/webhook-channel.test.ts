import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, beforeEach, describe, test } from "node:test";
import { type JsonClient, openJsonClient } from "../service/json-client.ts";
import { type Question, webhookChannel, webhookSignature } from "./channel.ts";

const question: Question = {
  challengeId: "c",
  requestId: "r",
  type: "number_match",
  clientId: "client",
  sub: "user",
  scopes: ["openid"],
  grant: "authorization_code",
  clientName: "Shop",
  ip: undefined,
  expiresInSeconds: 120,
};

describe("the webhook", () => {
  let server: Server;
  let connections: JsonClient;
  let url: string;
  let answer: RequestListener;
  const seen: Array<{ method: string | undefined; headers: Record<string, unknown>; body: string }> = [];

  before(async () => {
    connections = openJsonClient();
    server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => {
        seen.push({
          method: request.method,
          headers: request.headers,
          body: Buffer.concat(chunks).toString(),
        });
        answer(request, response);
      });
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/ask`;
  });
  after(() => {
    connections.close();
    server.close();
  });
  beforeEach(() => {
    seen.length = 0;
  });
  const reply = (status: number, body: unknown, headers = {}) => {
    answer = (_request, response) => response.writeHead(status, headers).end(JSON.stringify(body));
  };
  const ask = (type: Question["type"] = "number_match", signal = new AbortController().signal) =>
    webhookChannel({ url, secret: "secret" }, connections, () => 5_000).ask({ ...question, type }, signal);

  test("gets everything but the number, with a signature it can verify", async () => {
    reply(200, { outcome: "answered", answer: 42 });
    assert.deepEqual(await ask(), { outcome: "answered", answer: "42" });
    const [call] = seen;
    assert.ok(call);
    const { body, headers } = call;
    const { ip: _, ...told } = question;
    assert.deepEqual(JSON.parse(body), told);
    assert.equal(headers["signet-agent-timestamp"], "5");
    assert.equal(headers["signet-agent-signature"], webhookSignature("secret", "5", body));
    assert.notEqual(webhookSignature("secret", "5", body), webhookSignature("secret", "6", body));
  });

  test("may answer later at a Location of its own", async () => {
    answer = (request, response) => {
      if (request.method === "POST") response.writeHead(202, { location: "/later" }).end();
      else response.end(JSON.stringify({ outcome: "denied" }));
    };
    assert.deepEqual(await ask(), { outcome: "denied" });
    assert.deepEqual(
      seen.map(({ method }) => method),
      ["POST", "GET"],
    );
  });

  test("cannot redirect the agent to another origin, nor give a reply of the wrong type", async () => {
    reply(202, {}, { location: "http://127.0.0.1:1/later" });
    await assert.rejects(ask(), /another origin/);
    reply(302, {}, { location: "/other" });
    await assert.rejects(ask(), /status 302/);
    reply(200, { outcome: "delivered" });
    await assert.rejects(ask("number_match"), /not a reply to number_match/);
    reply(200, { outcome: "answered", answer: "1" });
    await assert.rejects(ask("pin"), /not a reply to pin/);
    reply(200, { outcome: "yes" });
    await assert.rejects(ask(), /without a valid reply/);
  });

  test("is abandoned when the request is over", async () => {
    const over = new AbortController();
    answer = () => over.abort();
    await assert.rejects(ask("number_match", over.signal));
  });
});
