import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { forEachDatabase } from "../testing/databases.ts";
import { makeOrganisation, startTestService, type TestService } from "../testing/test-service.ts";
import { hsts } from "./server.ts";

describe("a path that cannot be read", () => {
  forEachDatabase(({ fresh }) => {
    let running: TestService;
    let paths: readonly string[];
    before(async () => {
      running = await startTestService({ databaseUrl: await fresh(), baseUrl: "https://id.example" });
      const { organisation } = await makeOrganisation(running.service);
      paths = [
        ...["/%zz", "/oauth/%zz/authorize?ui_locales=%zz", `/oauth/${organisation.id}/magic/%E0%A4`],
        // Of parts that wait for their first request, too.
        ...["/oauth/manage/%zz", "/docs/%", `/legacy/api/Keys/User/${"x".repeat(255)}`],
      ];
    });
    after(() => running.close());

    const ask = (path: string, accept: string) =>
      fetch(`${running.baseUrl}${path}`, { headers: { accept }, redirect: "manual" });

    test("is a problem document for a program, with id, HSTS and a line in the log", async () => {
      for (const path of paths) {
        const answer = await ask(path, "application/json");
        assert.equal(answer.status, 400, path);
        assert.match(answer.headers.get("content-type") ?? "", /^application\/problem\+json/);
        assert.equal(answer.headers.get(hsts[0]), hsts[1]);
        const id = answer.headers.get("x-request-id");
        const { type, instance } = (await answer.json()) as Record<string, unknown>;
        assert.deepEqual([type, instance], ["urn:signet:error:malformed", id]);
        const lines = (await running.linesSoFar()).filter(({ requestId }) => requestId === id);
        assert.deepEqual(
          lines.map(({ method, route, status, address }) => [method, route, status, address]),
          [["GET", "(none)", 400, "127.0.0.1"]],
        );
      }
    });

    test("is an error page with the request's id for a browser", async () => {
      for (const path of paths) {
        const answer = await ask(path, "text/html");
        assert.equal(answer.status, 400, path);
        assert.match(answer.headers.get("content-security-policy") ?? "", /frame-ancestors 'none'/);
        const id = answer.headers.get("x-request-id") ?? "none";
        assert.ok((await answer.text()).includes(id), path);
      }
      assert.deepEqual(running.errors, []);
    });
  });
});
