import assert from "node:assert/strict";
import { test } from "node:test";
import { routeMapFaults } from "./route-map.ts";

const map = `# Specification map

| Method | Path | File |
| --- | --- | --- |
| POST | /oauth/{org}/token | packages/server/src/token.route.ts |
| GET, POST | \`/oauth/{org}/userinfo\` | \`packages/server/src/userinfo.route.ts\` |

| Table | Of something else |
| --- | --- |
| users | core |
`;

const routes = [
  { method: "POST", path: "/oauth/:org/token" },
  { method: "GET", path: "/oauth/:organisation/userinfo" },
  { method: "HEAD", path: "/oauth/:organisation/userinfo" },
  { method: "OPTIONS", path: "/oauth/:org/token" },
  { method: "POST", path: "/oauth/:org/userinfo" },
];

/** A file that writes the address of every route. */
const everyAddress = (): string =>
  ["token", "userinfo", "introspect"]
    .map((name) => `"/oauth/:org/${name}" "/oauth/:organisation/${name}"`)
    .join();

function faults(
  mapText: string,
  registered = routes,
  readSource: (path: string) => string | undefined = everyAddress,
): string[] {
  return routeMapFaults(mapText, registered, readSource).map(({ line, message }) => `${line} ${message}`);
}

test("a map that lists exactly what is registered passes, with HEAD and OPTIONS left out", () => {
  assert.deepEqual(faults(map), []);
});

test("a registered route without a row is named in the specification's form", () => {
  const more = [...routes, { method: "DELETE", path: "/users/:id(^\\d+)/sessions" }];
  assert.deepEqual(faults(map, more), ["1 DELETE /users/{id}/sessions is registered and has no row"]);
});

test("a row without a registered route is named with its line, each method by itself", () => {
  const less = routes.filter(({ method, path }) => !(method === "POST" && path.endsWith("userinfo")));
  assert.deepEqual(faults(map, less), ["6 no route is registered for POST /oauth/{org}/userinfo"]);
});

test("a row's file must be there and its method must be one", () => {
  const named: string[] = [];
  const onlyFirst = (path: string) => (named.push(path) === 1 ? everyAddress() : undefined);
  assert.deepEqual(faults(map, routes, onlyFirst), [
    "6 packages/server/src/userinfo.route.ts does not exist",
  ]);
  assert.deepEqual(named, ["packages/server/src/token.route.ts", "packages/server/src/userinfo.route.ts"]);
  assert.deepEqual(faults(`${map}| FETCH | /x | a.ts |\n`), ["11 FETCH is not an HTTP method"]);
});

test("a row's link is named after the file that it leads to", () => {
  const linked = (text: string) =>
    map.replace("packages/server/src/token.route.ts", `[${text}](../packages/server/src/token.route.ts)`);
  assert.deepEqual(faults(linked("token.route.ts")), []);
  assert.deepEqual(faults(linked("old.route.ts")), [
    "5 the link to packages/server/src/token.route.ts is named old.route.ts",
  ]);
  const onlyLinked = (path: string) =>
    path === "packages/server/src/token.route.ts" ? undefined : everyAddress();
  assert.deepEqual(faults(linked("token.route.ts"), routes, onlyLinked), [
    "5 packages/server/src/token.route.ts does not exist",
  ]);
});

test("a row's file writes the whole address as one literal, which a search finds", () => {
  const composed = (file: string) =>
    file.endsWith("token.route.ts") ? "app.post(tokenOperation.path, handler)" : everyAddress();
  assert.deepEqual(faults(map, routes, composed), [
    '5 packages/server/src/token.route.ts does not write the address "/oauth/:org/token"',
  ]);
});

test("a row may list several paths of one file", () => {
  const several = map.replace(
    "`/oauth/{org}/userinfo`",
    "`/oauth/{org}/userinfo`, `/oauth/{org}/introspect`",
  );
  const introspect = ["GET", "POST"].map((method) => ({ method, path: "/oauth/:org/introspect" }));
  assert.deepEqual(faults(several, [...routes, ...introspect]), []);
  assert.deepEqual(faults(several, [...routes, ...introspect.slice(0, 1)]), [
    "6 no route is registered for POST /oauth/{org}/introspect",
  ]);
});

test("an empty map leaves every route unlisted", () => {
  assert.equal(faults("").length, 3);
});
