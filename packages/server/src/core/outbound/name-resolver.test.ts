import assert from "node:assert/strict";
import { Resolver } from "node:dns/promises";
import { mkdtemp, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import { type NameServer, startNameServer } from "../../testing/fakes/name-server.ts";
import { parseHosts } from "./hosts-file.ts";
import { type NameResolverOptions, nameResolver } from "./name-resolver.ts";

const never = new AbortController().signal;
const hasCode = (code: string) => (error: unknown) => (error as NodeJS.ErrnoException).code === code;

suite("host names that others registered", () => {
  let server: NameServer;
  let folder: string;
  let hostsFile: string;
  /** Sockets of c-ares keep no process alive. */
  let alive: NodeJS.Timeout;
  before(async () => {
    alive = setInterval(() => {}, 60_000);
    server = await startNameServer();
    folder = await mkdtemp(join(tmpdir(), "signet-hosts-"));
    hostsFile = join(folder, "hosts");
    await writeFile(hostsFile, "127.0.0.1 localhost\n10.1.2.3 hooks.internal\n");
  });
  after(async () => {
    clearInterval(alive);
    await server.close();
    await rm(folder, { recursive: true, force: true });
  });
  const resolver = (options: NameResolverOptions = {}) =>
    nameResolver({ servers: [server.address], hostsFile, ...options });
  const lookup = (orgId = "one", signal = never) => ({ orgId, signal });
  const addresses = async (resolve: ReturnType<typeof resolver>, host: string, orgId?: string) =>
    (await resolve(host, lookup(orgId))).map(({ address, family }) => `${family}:${address}`).sort();

  test("finds the addresses of both families", async () => {
    server.set("both.example", ["192.0.2.1", "192.0.2.2", "2001:db8::1"]);
    server.set("six.example", ["2001:db8::2"]);
    const resolve = resolver();
    assert.deepEqual(await addresses(resolve, "BOTH.example."), [
      "4:192.0.2.1",
      "4:192.0.2.2",
      "6:2001:db8::1",
    ]);
    assert.deepEqual(await addresses(resolve, "six.example"), ["6:2001:db8::2"]);
  });

  test("takes names of the machine from its hosts file, asks no server for them, and sees changes", async () => {
    const resolve = resolver();
    assert.deepEqual(await addresses(resolve, "Hooks.Internal"), ["4:10.1.2.3"]);
    assert.deepEqual(await addresses(resolve, "localhost"), ["4:127.0.0.1"]);
    assert.deepEqual(await addresses(resolve, "app.localhost"), ["4:127.0.0.1", "6:::1"]);
    await writeFile(hostsFile, "127.0.0.1 localhost\n10.1.2.4 hooks.internal\n");
    await utimes(hostsFile, new Date(), new Date(Date.now() + 5_000));
    assert.deepEqual(await addresses(resolve, "hooks.internal"), ["4:10.1.2.4"]);
    const queries = ["hooks.internal", "localhost", "app.localhost"].map((name) => server.queries(name));
    assert.deepEqual(queries, [0, 0, 0]);
    const without = resolver({ hostsFile: join(folder, "missing") });
    assert.deepEqual(await addresses(without, "localhost"), ["4:127.0.0.1", "6:::1"]);
  });

  test("a server that never answers ends the lookup in time, and the signal ends it at once", async () => {
    for (const name of ["silent.example", "given-up.example"]) server.set(name, "silent");
    await assert.rejects(resolver({ lookupMs: 100 })("silent.example", lookup()), hasCode("ETIMEOUT"));
    const giving = new AbortController();
    const waiting = resolver({ lookupMs: 60_000 })("given-up.example", lookup("one", giving.signal));
    setTimeout(() => giving.abort(), 50);
    await assert.rejects(waiting, hasCode("ETIMEOUT"));
    // c-ares gives up by itself after three queries of each family.
    for (const name of ["silent.example", "given-up.example"]) assert.ok(server.queries(name) < 6, name);
  });

  test("waits only briefly for the family that is not answered, and asks no more for it", async ({
    mock,
  }) => {
    server.set("half.example", { v4: ["192.0.2.9"], v6: "silent" });
    const cancel = mock.method(Resolver.prototype, "cancel");
    const resolve = resolver({ lookupMs: 60_000 });
    assert.deepEqual(await addresses(resolve, "half.example"), ["4:192.0.2.9"]);
    assert.equal(cancel.mock.callCount(), 1);
    assert.ok(server.queries("half.example") < 4, "one for IPv4, and not all three for IPv6");
  });

  test("a failure is remembered for a while, for this organisation only", async () => {
    const resolve = resolver({ failureMs: 60_000 });
    for (const _ of [1, 2, 3])
      await assert.rejects(resolve("missing.example", lookup()), hasCode("ENOTFOUND"));
    assert.equal(server.queries("missing.example"), 2, "one for each family");
    await assert.rejects(resolve("missing.example", lookup("two")), hasCode("ENOTFOUND"));
    assert.equal(server.queries("missing.example"), 4);
    const forgetful = resolver({ failureMs: 0 });
    for (const _ of [1, 2]) await assert.rejects(forgetful("gone.example", lookup()), hasCode("ENOTFOUND"));
    assert.equal(server.queries("gone.example"), 4);
  });

  test("remembers a bounded number of failures, the latest", async () => {
    const resolve = resolver({ failureMs: 60_000, maxFailures: 2 });
    const names = ["first.example", "second.example", "third.example"];
    for (const name of [...names, ...names.toReversed()])
      await assert.rejects(resolve(name, lookup()), hasCode("ENOTFOUND"));
    assert.deepEqual(
      names.map((name) => server.queries(name)),
      [4, 2, 2],
    );
  });

  test("a lookup that its caller gave up is not remembered as a failure of the name", async () => {
    server.set("slow.example", "silent");
    const resolve = resolver({ failureMs: 60_000 });
    await assert.rejects(
      resolve("slow.example", lookup("one", AbortSignal.timeout(20))),
      hasCode("ETIMEOUT"),
    );
    server.set("slow.example", ["192.0.2.3"]);
    assert.deepEqual(await addresses(resolve, "slow.example"), ["4:192.0.2.3"]);
  });

  test("names that no name server can have fail like any other", async () => {
    const resolve = resolver({ lookupMs: 200 });
    for (const host of ["x".repeat(64), `${"a.".repeat(150)}example`, "a..b", "ünï.example", " "])
      await assert.rejects(
        resolve(host, lookup()),
        (error: unknown) => typeof (error as { code: unknown }).code === "string",
        host,
      );
  });
});

test("reads a hosts file with comments, several names, both families and lines that are none", () => {
  const names = parseHosts(
    "# comment\n127.0.0.1\tlocalhost Alias. # more\n::1 localhost ip6-loopback\n\nnonsense here\nfe80::1%lo zone\n127.0.0.1 localhost\n",
  );
  assert.deepEqual(Object.fromEntries(names), {
    localhost: [
      { address: "127.0.0.1", family: 4 },
      { address: "::1", family: 6 },
    ],
    alias: [{ address: "127.0.0.1", family: 4 }],
    "ip6-loopback": [{ address: "::1", family: 6 }],
    zone: [{ address: "fe80::1%lo", family: 6 }],
  });
});
