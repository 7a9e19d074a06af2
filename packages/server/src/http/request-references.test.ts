import assert from "node:assert/strict";
import type { IncomingMessage } from "node:http";
import { after, before, test } from "node:test";
import { findSubjects } from "../core/audit/search/find-subjects.ts";
import { searchAuditEvents } from "../core/audit/search/search.ts";
import { forEachDatabase } from "../testing/databases.ts";
import { credentials, postForm } from "../testing/fixtures/client.ts";
import { callApi, makeSystemAccount } from "../testing/fixtures/system-account.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../testing/test-service.ts";
import { requestIds, requestReferences } from "./request-references.ts";

const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const PARENT = `00-${TRACE}-00f067aa0ba902b7-01`;

const from = (remoteAddress: string | undefined, headers: object): IncomingMessage =>
  ({ socket: { remoteAddress }, headers }) as unknown as IncomingMessage;

test("request ids differ within a node and between nodes", () => {
  const [one, other] = [requestIds("one"), requestIds("other")];
  const ids = [one(), one(), one(), other(), other()];
  assert.equal(new Set(ids).size, ids.length);
});

test("an id is a trusted proxy's, if it is short and needs no escaping", () => {
  const { idOf } = requestReferences("node", ["10.0.0.0/8"]);
  const readFrom = (address: string | undefined, id: unknown) => idOf(from(address, { "x-request-id": id }));
  const read = (id: unknown) => readFrom("10.1.2.3", id);
  for (const id of ["a", "7b1f9c52-9a7e-4d0c-b1ad-2f1c1b8d9a10", "edge=1:2/3+4~5.6_7", "n".repeat(199)])
    assert.equal(read(id), id);
  for (const id of ["", "n".repeat(200), 'a"b', "a b", "<b>", "a\\b", "ä", ["a", "b"], undefined])
    assert.match(read(id), /^node-/);
  for (const address of ["203.0.113.9", "11.0.0.1", undefined])
    assert.match(readFrom(address, "a"), /^node-/);
  assert.match(requestReferences("node", []).idOf(from("127.0.0.1", { "x-request-id": "a" })), /^node-/);
});

test("a trace is a trusted proxy's, if it is valid", () => {
  const { traceOf } = requestReferences("node", ["10.0.0.0/8"]);
  const read = (traceparent: string, address = "10.1.2.3") => traceOf(from(address, { traceparent }));
  assert.equal(read(PARENT), TRACE);
  assert.equal(read(`01${PARENT.slice(2)}-later`), TRACE);
  assert.equal(read(PARENT, "203.0.113.9"), undefined);
  for (const invalid of [
    "",
    PARENT.slice(1),
    `${PARENT}0`,
    PARENT.toUpperCase(),
    `ff${PARENT.slice(2)}`,
    PARENT.replace(TRACE, "0".repeat(32)),
    PARENT.replace("00f067aa0ba902b7", "0".repeat(16)),
  ])
    assert.equal(read(invalid), undefined, invalid);
});

forEachDatabase(({ fresh }) => {
  for (const isFrameworkAlone of [false, true]) {
    const way = isFrameworkAlone ? "by the framework" : "by the direct way";
    let running: TestService;
    let org: TestOrganisation;
    before(async () => {
      const env = { TRUSTED_PROXIES: "127.0.0.1" };
      running = await startTestService({ databaseUrl: await fresh(), env, isFrameworkAlone });
      org = await makeOrganisation(running.service);
    });
    after(() => running.close());

    test(`${way}: a line says whose request it was, and of which trace`, async () => {
      const { id: orgId } = org.organisation;
      const headers = { "x-forwarded-for": "198.51.100.7", "x-request-id": "edge-1", traceparent: PARENT };
      const form = { grant_type: "client_credentials", ...credentials(org.batch) };
      const answer = await postForm(`${org.issuer}/token`, form, headers);
      assert.equal(answer.headers.get("x-request-id"), "edge-1");
      const line = (await running.linesSoFar()).find(({ requestId }) => requestId === "edge-1");
      assert.equal(line?.route, "/oauth/:org/token");
      const { address, traceId, clientId } = line ?? {};
      assert.deepEqual([line?.orgId, clientId], [orgId, org.batch.application.id]);
      assert.deepEqual([address, traceId], ["198.51.100.7", TRACE]);
      const account = await makeSystemAccount(running.service, org, {});
      await callApi(`${running.baseUrl}/legacy/api/oauth/clients/${org.web.application.id}`, account);
      const byKey = (await running.linesSoFar()).at(-1);
      assert.deepEqual([byKey?.route, byKey?.orgId], ["/legacy/api/oauth/clients/:clientId", orgId]);
    });

    test(`${way}: every answer has the id, and errors show it`, async () => {
      const ask = (path: string, id: string, headers = {}) =>
        fetch(`${running.baseUrl}${path}`, { headers: { "x-request-id": id, ...headers } });
      const discovery = `/oauth/${org.organisation.id}/.well-known/openid-configuration`;
      const paths = [
        discovery,
        discovery,
        "/livez",
        "/",
        "/not/here",
        `/oauth/${org.organisation.id}/userinfo`,
      ];
      for (const [at, path] of paths.entries()) {
        const answer = await ask(path, `edge-${at}`);
        await answer.arrayBuffer();
        assert.equal(answer.headers.get("x-request-id"), `edge-${at}`, path);
      }
      const problem = (await (await ask("/not/here", "edge-p")).json()) as { instance?: string };
      assert.equal(problem.instance, "edge-p");
      const page = await ask("/not/here", "edge-page", { accept: "text/html" });
      assert.match(await page.text(), /<code>edge-page<\/code>/);
    });

    test(`${way}: the audit log finds a request by the proxy's id, a UUID too`, async () => {
      const { id: orgId } = org.organisation;
      const ids = ["edge-found", "7B1F9C52-9A7E-4D0C-B1AD-2F1C1B8D9A10"] as const;
      // A failure is recorded once a minute for each application.
      for (const [at, client] of [org.batch, org.web].entries()) {
        const id = ids[at] ?? "";
        const form = { grant_type: "client_credentials", ...credentials(client), client_secret: "wrong" };
        await postForm(`${org.issuer}/token`, form, { "x-request-id": id });
        const { query } = running.service.database;
        const { filters } = await findSubjects(query, orgId, id);
        const { events } = await searchAuditEvents(query, orgId, { subjects: filters }, { limit: 10 });
        assert.ok(events.length > 0, id);
        for (const { context } of events) assert.equal(context?.requestId, id);
      }
    });
  }
});
