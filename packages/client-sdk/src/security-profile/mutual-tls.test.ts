import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { after, before, test } from "node:test";
import tls, { type TLSSocket } from "node:tls";
import { testCertificate } from "@signet/protocol/testing/test-certificate";
import { createHttp } from "../provider/http.ts";
import { mutualTlsFetch } from "./mutual-tls.ts";

const authority = testCertificate({ subject: "Authority", isCa: true });
const pemOf = ({ pem, privateKey }: ReturnType<typeof testCertificate>) => ({
  certificate: pem,
  key: privateKey.export({ format: "pem", type: "pkcs8" }).toString(),
});
const shown = pemOf(testCertificate({ subject: "client", issuer: authority }));
const roots = tls.getCACertificates("default");
let server: Server;
let url: string;

before(async () => {
  const own = pemOf(testCertificate({ subject: "localhost", issuer: authority, hosts: ["localhost"] }));
  const options = { key: own.key, cert: own.certificate, requestCert: true, rejectUnauthorized: false };
  server = createServer(options, async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    if (request.url === "/gone") return void response.writeHead(302, { location: "/" }).end();
    if (request.url === "/empty") return void response.writeHead(204).end();
    const { subject } = (request.socket as TLSSocket).getPeerCertificate();
    const { method, headers } = request;
    response.setHeader("set-cookie", ["a=1", "b=2"]);
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ subject: subject?.CN, method, body, type: headers["content-type"] }));
  });
  server.listen(0, "localhost");
  await once(server, "listening");
  url = `https://localhost:${(server.address() as AddressInfo).port}`;
  tls.setDefaultCACertificates([...roots, authority.pem]);
});
after(() => {
  tls.setDefaultCACertificates(roots);
  server.closeAllConnections();
  server.close();
});

test("requests present the certificate, with their method, headers and body", async () => {
  const response = await mutualTlsFetch(shown)(url, {
    ...{ method: "POST", body: "a=1" },
    headers: { "content-type": "text/x" },
  });
  assert.equal(response.status, 200);
  assert.deepEqual(response.headers.getSetCookie(), ["a=1", "b=2"]);
  const expected = { subject: "client", method: "POST", body: "a=1", type: "text/x" };
  assert.deepEqual(await response.json(), expected);
});

test("the SDK's client works with it: answers without a body, no redirects, time limits", async () => {
  const http = createHttp({ fetch: mutualTlsFetch(shown) }, { environment: "production" });
  assert.equal((await http.json(`${url}/`)).status, 200);
  assert.equal((await http.json(`${url}/empty`)).status, 204);
  await assert.rejects(http.json(`${url}/gone`), { code: "provider_answer" });
  const signal = AbortSignal.abort();
  await assert.rejects(http.json(`${url}/`, { signal }), { code: "provider_unreachable" });
});

test("a server of an unknown authority is not talked to", async () => {
  tls.setDefaultCACertificates(roots);
  await assert.rejects(mutualTlsFetch(shown)(url), /certificate/);
  tls.setDefaultCACertificates([...roots, authority.pem]);
});
