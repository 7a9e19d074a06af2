/** Commands that run at once and refresh one login: whoever comes second uses what the first has got. */
import assert from "node:assert/strict";
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import os from "node:os";
import path from "node:path";
import { after, afterEach, before, beforeEach, test } from "node:test";
import { type Environment, runInProcess } from "../../testing/command-line.ts";
import { type StoredLogin, withLogins, writeLogin } from "./stored-logins.ts";

let folder: string;
let server: Server;
let url: string;
let current: string;
let refreshes: number;
/** What the token endpoint leaves out of its answers. */
let omitted: readonly string[];

/** Rotates without a grace period: a refresh token that has been used ends the sign-in. */
before(async () => {
  server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (text: string) => {
      body += text;
    });
    request.on("end", () => {
      const isRefresh = request.url === "/token";
      const isGood = isRefresh && new URLSearchParams(body).get("refresh_token") === current;
      if (isRefresh) refreshes += 1;
      if (isGood && !omitted.includes("refresh_token")) current = `refresh-${refreshes}`;
      const tokens = { access_token: `access-${refreshes}`, expires_in: 3_600, refresh_token: current };
      const kept = Object.entries(tokens).filter(([name]) => !omitted.includes(name));
      const answer = isRefresh
        ? isGood
          ? Object.fromEntries(kept)
          : { error: "invalid_grant" }
        : { items: [] };
      response.writeHead(isRefresh && !isGood ? 400 : 200, { "content-type": "application/json" });
      response.end(JSON.stringify(answer));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
after(() => new Promise((resolve) => server.close(resolve)));
beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), "signet-logins-"));
  [current, refreshes, omitted] = ["refresh-0", 0, []];
});
afterEach(() => rm(folder, { recursive: true }));

const login = (orgId: string, more: Partial<StoredLogin> = {}): StoredLogin => ({
  ...{ server: url, orgId, isOfOperators: false, clientId: "c", accessToken: "old", expiresAt: 0 },
  ...{ tokenEndpoint: `${url}/token`, revocationEndpoint: `${url}/revoke`, refreshToken: "refresh-0" },
  ...more,
});
const at = () => path.join(folder, "signet");
const env = (): Environment => ({ XDG_CONFIG_HOME: folder, SIGNET_SERVER: url });
const stored = async () => {
  const text = await readFile(path.join(at(), "logins.json"), "utf8");
  return (JSON.parse(text) as { logins: StoredLogin[] }).logins;
};
const list = (orgId: string) => runInProcess(["group", "list", "--org", orgId], env());

test("one of several commands refreshes, the others use its tokens", async () => {
  const orgId = crypto.randomUUID();
  await withLogins(at(), () => writeLogin(at(), login(orgId)));
  const answers = await Promise.all([1, 2, 3, 4].map(() => list(orgId)));
  assert.deepEqual(
    answers.map(({ code, err }) => [code, err]),
    answers.map(() => [0, ""]),
  );
  assert.equal(refreshes, 1);
  assert.deepEqual(
    (await stored()).map((one) => [one.accessToken, one.refreshToken]),
    [["access-1", "refresh-1"]],
  );
  assert.equal((await stat(path.join(at(), "logins.json"))).mode & 0o777, 0o600);
  assert.deepEqual((await readdir(at())).toSorted(), ["logins.json", "logins.lock"]);
});

test("logins that are stored at once are all kept", async () => {
  const ids = Array.from({ length: 8 }, () => crypto.randomUUID());
  await Promise.all(ids.map((id) => withLogins(at(), () => writeLogin(at(), login(id)))));
  assert.deepEqual((await stored()).map((one) => one.orgId).toSorted(), ids.toSorted());
});

test("a login whose refresh is refused stays as it is, and so does the refresh token that an answer leaves out", async () => {
  const orgId = crypto.randomUUID();
  await mkdir(at(), { recursive: true });
  await withLogins(at(), () => writeLogin(at(), login(orgId, { refreshToken: "used" })));
  const refused = await list(orgId);
  assert.deepEqual([refused.code, /the sign-in has ended: run signet login/.test(refused.err)], [1, true]);
  assert.equal((await stored())[0]?.refreshToken, "used");
  await withLogins(at(), () => writeLogin(at(), login(orgId)));
  omitted = ["refresh_token"];
  assert.equal((await list(orgId)).code, 0);
  assert.equal((await stored())[0]?.refreshToken, "refresh-0");
  omitted = ["access_token"];
  await withLogins(at(), () => writeLogin(at(), login(orgId)));
  assert.match((await list(orgId)).err, /the server answers without tokens/);
  assert.equal((await stored())[0]?.accessToken, "old");
});

test("a file that is no list of logins is named", async () => {
  await mkdir(at(), { recursive: true });
  for (const text of ["{", "{}", "[]", '{"logins":{}}']) {
    await writeFile(path.join(at(), "logins.json"), text, { mode: 0o600 });
    assert.match((await list(crypto.randomUUID())).err, /can't use the logins in .*logins\.json/);
  }
  await writeFile(path.join(at(), "logins.json"), "null", { mode: 0o600 });
  assert.match((await list(crypto.randomUUID())).err, /it holds no list of logins/);
});
