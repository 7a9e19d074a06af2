import assert from "node:assert/strict";
import { test } from "node:test";
import { importDirection } from "./import-direction.ts";

const server = "packages/server/src";

function faults(path: string, specifier: string): string[] {
  return importDirection([{ path, text: `import type { x } from "${specifier}";` }]).map(
    ({ message }) => message,
  );
}

function assertAllowed(path: string, specifier: string): void {
  assert.deepEqual(faults(path, specifier), [], `${path} imports ${specifier}`);
}

function assertRefused(path: string, specifier: string): void {
  assert.equal(faults(path, specifier).length, 1, `${path} imports ${specifier}`);
}

test("imports point from the top to the protocol", () => {
  assertAllowed(`${server}/app.ts`, "./features/oauth/jwks.route.ts");
  assertAllowed(`${server}/main.ts`, "./cli/start.ts");
  assertAllowed(`${server}/cli/start.ts`, "../app.ts");
  assertAllowed(`${server}/features/oauth/token/token.route.ts`, "../../../core/tokens/tokens.ts");
  assertAllowed(`${server}/features/oauth/token/token.route.ts`, "../client-authentication.ts");
  assertAllowed(`${server}/features/oauth/consent.page.ts`, "../../html/layout.ts");
  assertAllowed(`${server}/core/users/store.ts`, "../../db/schema.ts");
  assertAllowed(`${server}/http/csrf.ts`, "@signet/protocol/form");
  assertAllowed("packages/protocol/src/tpm/quote.ts", "../jws.ts");
});

test("no import points back up", () => {
  assertRefused(`${server}/core/users/users.ts`, "../../features/oauth/login.ts");
  assertRefused(`${server}/core/users/users.ts`, "../../config.ts");
  assertRefused(`${server}/core/users/users.ts`, "../../http/csrf.ts");
  assertRefused(`${server}/features/oauth/jwks.route.ts`, "../../app.ts");
  assertRefused(`${server}/features/oauth/jwks.route.ts`, "../../cli/start.ts");
  for (const layer of ["db", "http", "html"])
    assertRefused(`${server}/${layer}/x.ts`, "../core/users/users.ts");
  assertRefused(`${server}/http/x.ts`, "../html/html.ts");
  assertRefused("packages/protocol/src/jose/jws.ts", "@signet/server/app");
});

test("a feature imports no other feature", () => {
  assertRefused(`${server}/features/oauth/x.ts`, "../federation/y.ts");
  assertRefused(`${server}/features/oauth/token/x.ts`, "../../federation/login.route.ts");
});

test("testing is only for tests, e2e, bench and scripts, and a test may import anything", () => {
  assertRefused(`${server}/app.ts`, "./testing/postgres.ts");
  assertRefused(`${server}/core/users/users.ts`, "../../testing/clock.ts");
  assertAllowed(`${server}/core/users/users.test.ts`, "../../testing/clock.ts");
  assertAllowed(`${server}/features/oauth/x.test.ts`, "../federation/y.ts");
  assertAllowed(`${server}/testing/harness.ts`, "../app.ts");
  assertAllowed("e2e/login.test.ts", "@signet/server/testing/postgres");
  assertAllowed("scripts/test.ts", "../packages/server/src/testing/postgres.ts");
});

test("packages import each other by name, and nothing outside the packages", () => {
  assertRefused(`${server}/app.ts`, "../../protocol/src/jws.ts");
  assertRefused(`${server}/app.test.ts`, "../../protocol/src/jws.ts");
  assertRefused(`${server}/app.ts`, "../../../e2e/browser.ts");
  assertRefused("packages/client-sdk/src/session.ts", "@signet/server/app");
  assertAllowed("packages/client-sdk/src/session.ts", "@signet/protocol/jws");
  for (const program of ["signing-agent", "device-client"]) {
    assertAllowed(`packages/${program}/src/main.ts`, "@signet/cli-runtime/log");
    assertRefused("packages/cli-runtime/src/log.ts", `@signet/${program}/main`);
  }
  assertAllowed("packages/cli-runtime/src/log.ts", "@signet/protocol/redact-secrets");
  assertAllowed(`${server}/cli/remote/stored-logins.ts`, "@signet/cli-runtime/exclusive-lock");
  for (const layer of ["app.ts", "core/users/users.ts", "features/oauth/app.ts"])
    assertRefused(`${server}/${layer}`, "@signet/cli-runtime/log");
});

test("a folder of the server that has no layer is refused", () => {
  assert.match(
    faults(`${server}/other/x.ts`, "../core/users/users.ts")[0] ?? "",
    /add it to import-direction/,
  );
});
