import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createServer, type Server } from "node:net";
import { test } from "node:test";
import { BLOCK, freePort } from "./free-port.ts";

const listen = (port: number): Promise<Server> =>
  new Promise((resolve, reject) => {
    const server = createServer().once("error", reject);
    server.listen(port, "127.0.0.1", () => resolve(server));
  });

test("returns distinct ports that are free", async () => {
  const ports = await Promise.all(Array.from({ length: 50 }, () => freePort()));
  assert.equal(new Set(ports).size, 50);
  const servers = await Promise.all(ports.map(listen));
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
});

test("reserves a block of ports for this process by listening on the first", async () => {
  const port = await freePort();
  const atFirst = listen(port - (port % BLOCK)).then((server) => server.close());
  await assert.rejects(atFirst, { code: "EADDRINUSE" });
});

test("takes another block when one is used up", async () => {
  const ports = new Set<number>();
  for (let index = 0; index < BLOCK; index++) ports.add(await freePort());
  assert.equal(ports.size, BLOCK);
  assert.ok([...ports].every((port) => port % BLOCK !== 0));
});

test("skips ports in use, alone or in a row", async (t) => {
  let first = await freePort();
  // The next ones are of the same block.
  while (first % BLOCK > BLOCK / 2) first = await freePort();
  const taken = [first + 1, first + 4];
  const servers = await Promise.all(taken.map(listen));
  t.after(() => servers.map((server) => server.close()));
  const next = await freePort();
  assert.ok(!taken.includes(next), "the next one is taken");
  const pair = await freePort(2);
  assert.ok(!taken.includes(pair) && !taken.includes(pair + 1), "not 3, whose neighbour is taken");
});

test("returns no ephemeral port and none that browsers block", {
  skip: process.platform !== "linux",
}, async () => {
  const range = await readFile("/proc/sys/net/ipv4/ip_local_port_range", "utf8");
  const lowest = Number(range.split(/\s+/)[0]);
  for (let index = 0; index < 20; index++) {
    const port = await freePort();
    assert.ok(port > 10_080 && port < lowest, `${port}`);
  }
});
