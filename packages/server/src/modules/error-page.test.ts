import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { FastifyInstance } from "fastify";
import { createApp } from "../app.ts";
import { forEachDatabase } from "../testing/databases.ts";
import { quickPasswords } from "../testing/fakes/quick-passwords.ts";
import {
  makeClient,
  makeOrganisation,
  REDIRECT_URI,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../testing/test-service.ts";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  let clientId: string;
  before(async () => {
    running = await startTestService({ databaseUrl: await fresh(), passwords: quickPasswords });
    org = await makeOrganisation(running.service);
    const settings = { redirectUris: [REDIRECT_URI], homepageUri: "https://app.example/" };
    clientId = (await makeClient(running.service, org.organisation, settings)).application.id;
  });
  after(() => running.close());

  const page = async (path: string) => {
    const response = await fetch(running.baseUrl + path, { redirect: "manual" });
    return { status: response.status, headers: response.headers, body: await response.text() };
  };
  const authorize = (query: string) => page(`/oauth/${org.organisation.id}/authorize?${query}`);

  test("an unknown URL gets a page in browsers and problem+json in programs", async () => {
    const at = `/oauth/${org.organisation.id}`;
    // The address of a form, which somebody reloads, and one that is none.
    for (const [path, status, code] of [
      [`${at}/login`, 405, "method-not-allowed"],
      [`${at}/nothing`, 404, "not-found"],
    ] as const) {
      const person = await fetch(running.baseUrl + path, { headers: { accept: "text/html,*/*;q=0.8" } });
      assert.equal(person.status, status);
      assert.match(person.headers.get("content-type") ?? "", /^text\/html/);
      const body = await person.text();
      assert.match(body, /Page not found/);
      assert.match(body, /class="button primary" id="to-account" href="\/oauth\/[\w-]+\/account"/);
      const program = await fetch(running.baseUrl + path, { headers: { accept: "application/json" } });
      assert.equal(program.status, status);
      assert.match(program.headers.get("content-type") ?? "", /^application\/problem\+json/);
      assert.equal(((await program.json()) as { type: string }).type, `urn:signet:error:${code}`);
    }
  });

  test("shows the registered organisation and application with a link back", async () => {
    const { status, body } = await authorize(
      `client_id=${clientId}&redirect_uri=https%3A%2F%2Fevil.example%2F`,
    );
    assert.equal(status, 400);
    assert.match(body, /is not registered for this application/);
    assert.ok(body.includes('<bdi class="brand-name">Acme</bdi>'));
    assert.match(
      body,
      /<a class="button primary" id="to-application" href="https:\/\/app\.example\/">Go to Web<\/a>/,
    );
    assert.doesNotMatch(body, /evil/);
  });

  test("shows neither name nor link of an unknown application", async () => {
    for (const query of [
      "",
      "client_id=x",
      "client_id=01a1fd3c-484e-78bb-9893-e02106c1d59d",
      "client_id=%zz",
      `client_id=${clientId}&x=%00`,
    ]) {
      const { status, body } = await authorize(query);
      assert.equal(status, 400, query);
      assert.doesNotMatch(body, /<a (?!class="button primary" id="to-account")/, query);
    }
  });

  test("shows no name of an unknown organisation", async () => {
    const { status, body } = await page("/oauth/01a1fd3c-484e-78bb-9893-e02106c1d59d/authorize");
    assert.equal(status, 404);
    assert.match(body, /Page not found/);
    assert.ok(body.includes('<bdi class="brand-name">Signet</bdi>'));
  });

  /** The same service with a storage that fails in some way. */
  async function failing(error: Error): Promise<{ app: FastifyInstance; logged: unknown[] }> {
    const logged: unknown[] = [];
    const find = async () => Promise.reject(error);
    const app = await createApp(
      { ...running.service, organisations: { find } },
      {
        nodeName: "test",
        logRequest: () => {},
        logError: (one) => logged.push(one),
        logDocuments: () => {},
        logRefusal: () => {},
        isDraining: () => false,
      },
    );
    return { app, logged };
  }

  test("renders without organisation and application when the lookup fails", async () => {
    const { app } = await failing(new Error("away"));
    const answer = await app.inject({
      method: "POST",
      url: `/oauth/${org.organisation.id}/login?client_id=${clientId}`,
      headers: { "content-type": "application/json" },
      payload: "{}",
    });
    assert.equal(answer.statusCode, 415);
    assert.match(answer.body, /<bdi class="brand-name">Signet<\/bdi>/);
    await app.close();
  });

  test("logs an internal error and doesn't show it", async () => {
    const error = new Error("column secret_detail of row 42");
    const { app, logged } = await failing(error);
    for (const method of ["GET", "POST"] as const) {
      const answer = await app.inject({
        method,
        url: `/oauth/${org.organisation.id}/${method === "GET" ? "authorize" : "login"}`,
        headers: { "content-type": "application/x-www-form-urlencoded" },
      });
      assert.equal(answer.statusCode, 500);
      assert.match(answer.body, /Something went wrong/);
      assert.doesNotMatch(answer.body, /secret_detail|\.ts|Error/);
      assert.match(answer.body, /<code>test-\w+<\/code>/);
    }
    assert.deepEqual(logged, [error, error]);
    await app.close();
  });

  test("responds 503 with Retry-After when the database is unavailable", async () => {
    const { app } = await failing(Object.assign(new Error("connect secret_host"), { code: "ECONNREFUSED" }));
    const answer = await app.inject({ url: `/oauth/${org.organisation.id}/authorize` });
    assert.equal(answer.statusCode, 503);
    assert.equal(answer.headers["retry-after"], "2");
    assert.equal(answer.headers["cache-control"], "no-store");
    assert.match(answer.body, /Signet is temporarily unavailable/);
    assert.doesNotMatch(answer.body, /secret_host/);
    await app.close();
  });
});
