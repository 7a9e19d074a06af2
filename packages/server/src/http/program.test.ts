import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { type IncomingMessage, get as request } from "node:http";
import { connect } from "node:net";
import { after, before, test } from "node:test";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../testing/test-service.ts";
import { isProgram } from "./program.ts";

test("tells programs from browsers by what they accept and send", () => {
  const programs = [
    { accept: "application/json" },
    { accept: "application/json", cookie: "a=b", "accept-language": "en" },
    { accept: "*/*" },
    {},
    { authorization: "Bearer x", accept: "text/html" },
    { authorization: "Basic x", accept: "*/*" },
    { authorization: "Basically x", accept: "text/html" },
  ];
  const browsers = [
    { accept: "text/html,*/*;q=0.8" },
    { accept: "text/html, application/json" },
    { accept: "*/*", cookie: "a=b" },
    { accept: "*/*", "accept-language": "en" },
    { authorization: "Basic x", accept: "text/html,*/*;q=0.8" },
    { authorization: "negotiate x", accept: "text/html" },
    { cookie: "a=b" },
    { "accept-language": "en" },
  ];
  for (const headers of programs) assert.equal(isProgram({ headers }), true, JSON.stringify(headers));
  for (const headers of browsers) assert.equal(isProgram({ headers }), false, JSON.stringify(headers));
});

let running: TestService;
let org: TestOrganisation;
before(async () => {
  running = await startTestService({ databaseUrl: "sqlite::memory:" });
  org = await makeOrganisation(running.service);
});
after(() => running.close());

/** As curl asks: `fetch` names a language. */
async function get(
  url: string,
  accept: string | undefined,
  more: Readonly<Record<string, string>> = {},
): Promise<{ status: number | undefined; contentType: string; allow: string | undefined }> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  request(url, { headers: { ...(accept === undefined ? {} : { accept }), ...more } }, resolve).on(
    "error",
    reject,
  );
  const response = await promise;
  response.resume();
  const { "content-type": contentType = "", allow } = response.headers;
  return { status: response.statusCode, contentType, allow };
}

test("a program without credentials gets 401 in JSON where a browser gets the sign-in page", async () => {
  // As curl, as programs that say what they read, and as Go and Java.
  for (const path of [
    `/devices/manage/${org.organisation.id}`,
    `/devices/manage/${org.organisation.id}/policy`,
    `/oauth/${org.organisation.id}/user/consents`,
    `/oauth/manage/${org.organisation.id}`,
    `/oauth/manage/${org.organisation.id}/scopes`,
    `/oauth/${org.organisation.id}/account`,
    `/oauth/${org.organisation.id}/account/profile`,
  ])
    for (const accept of ["*/*", "application/json", undefined]) {
      const { status, contentType } = await get(`${running.baseUrl}${path}`, accept);
      assert.equal(status, 401, `${accept} ${path}`);
      assert.match(contentType, /json/);
    }
});

test("a browser gets the sign-in page also behind a proxy that adds credentials of its own", async () => {
  for (const authorization of ["Basic YTpi", "Negotiate YTpi", "Bearer of-the-proxy"])
    for (const path of [
      `/oauth/manage/${org.organisation.id}`,
      `/oauth/${org.organisation.id}/account`,
      `/devices/manage/${org.organisation.id}/codes/${randomUUID()}/withdraw`,
    ]) {
      const page = await get(`${running.baseUrl}${path}`, "text/html", { authorization });
      assert.ok(page.status === 200 || page.status === 303, `${authorization} ${path}: ${page.status}`);
      const program = await get(`${running.baseUrl}${path}`, "*/*", { authorization });
      assert.match(program.contentType, /json/, `${authorization} ${path}`);
    }
  const both = `${running.baseUrl}/devices/manage/${org.organisation.id}`;
  const page = await get(both, "text/html", { authorization: "Basic YTpi" });
  assert.ok(page.status === 200 || page.status === 303, `${page.status}`);
});

test("a page at the address of an operation with other methods is refused to programs, as /openapi.json says", async () => {
  const id = randomUUID();
  for (const path of [
    `/devices/manage/${org.organisation.id}/${id}/revoke`,
    `/devices/manage/${org.organisation.id}/codes/${id}/withdraw`,
    `/oauth/${org.organisation.id}/device`,
  ]) {
    for (const accept of ["*/*", "application/json"]) {
      const { status, contentType, allow } = await get(`${running.baseUrl}${path}`, accept);
      assert.deepEqual([status, allow], [405, "POST"], `${accept} ${path}`);
      assert.match(contentType, /problem\+json/);
    }
    const page = await get(`${running.baseUrl}${path}`, "text/html");
    assert.ok(page.status === 200 || page.status === 303, `${path}: ${page.status}`);
  }
});

test("what is no HTTP is answered in the form of every other refusal", async () => {
  const { port } = new URL(running.baseUrl);
  const socket = connect(Number(port), "127.0.0.1");
  socket.end("GET / HTTP/1.1\r\nHost: x\r\nBad header\r\n\r\n");
  let answer = "";
  for await (const chunk of socket.setEncoding("utf8")) answer += chunk;
  assert.match(answer, /^HTTP\/1\.1 400 Bad Request\r\n/);
  assert.match(answer, /content-type: application\/problem\+json/i);
  assert.equal((JSON.parse(answer.split("\r\n\r\n")[1] ?? "") as { status: number }).status, 400);
});
