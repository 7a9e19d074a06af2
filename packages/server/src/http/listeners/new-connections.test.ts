import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { type AddressInfo, connect, type Socket } from "node:net";
import { type TestContext, test } from "node:test";
import { connect as connectSecurely } from "node:tls";
import { testCertificate } from "@signet/protocol/testing/test-certificate";
import { spareNewConnections } from "./new-connections.ts";

const REQUEST = "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";

async function listen<S extends Server>(t: TestContext, server: S): Promise<{ server: S; port: number }> {
  spareNewConnections(server);
  server.on("request", (_request, response) => response.end("answered"));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.closeAllConnections());
  return { server, port: (server.address() as AddressInfo).port };
}

async function textOf(socket: Socket): Promise<string> {
  let text = "";
  for await (const chunk of socket.setEncoding("utf8")) text += chunk;
  return text;
}

test("a connection whose first request is on its way when the server closes is answered", async (t) => {
  const { server, port } = await listen(t, createServer());
  const socket = connect(port, "127.0.0.1");
  await once(server, "connection");
  const closed = once(server.close(), "close");
  socket.write(REQUEST);
  assert.match(await textOf(socket), /^HTTP\/1\.1 200 .*answered$/s);
  await closed;
});

test("so is one over TLS", async (t) => {
  const { key, pem } = selfSigned();
  const { server, port } = await listen(t, createSecureServer({ key, cert: pem }));
  const socket = connectSecurely({ port, host: "127.0.0.1", rejectUnauthorized: false });
  await once(server, "secureConnection");
  const closed = once(server.close(), "close");
  socket.write(REQUEST);
  assert.match(await textOf(socket), /^HTTP\/1\.1 200 .*answered$/s);
  await closed;
});

test("a connection that never sends anything, and one between two requests, don't keep the server", async (t) => {
  const { server, port } = await listen(t, createServer());
  const silent = connect(port, "127.0.0.1");
  await once(server, "connection");
  const between = connect(port, "127.0.0.1");
  between.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  await once(between, "data");
  const closed = once(server.close(), "close");
  await Promise.all([once(silent.resume(), "close"), once(between.resume(), "close"), closed]);
});

function selfSigned(): { key: string; pem: string } {
  const { privateKey, pem } = testCertificate({ subject: "localhost", hosts: ["localhost"] });
  return { key: String(privateKey.export({ format: "pem", type: "pkcs8" })), pem };
}
