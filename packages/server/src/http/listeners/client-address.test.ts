import assert from "node:assert/strict";
import type { IncomingMessage } from "node:http";
import { test } from "node:test";
import Fastify from "fastify";
import { addressOf, clientAddresses, setAddressReader } from "./client-address.ts";

const PROXY = "10.0.0.7";
const trusted = ["10.0.0.0/8", "fd00::/8", "192.0.2.1"];

const request = (remoteAddress: string | undefined, forwarded?: string): IncomingMessage =>
  ({
    socket: { remoteAddress },
    headers: forwarded === undefined ? {} : { "x-forwarded-for": forwarded },
  }) as unknown as IncomingMessage;

const read = (remoteAddress: string | undefined, forwarded?: string, proxies = trusted) => {
  const raw = request(remoteAddress, forwarded);
  setAddressReader(raw, clientAddresses(proxies));
  return addressOf({ raw });
};

test("without a trusted proxy the header is the client's own word", () => {
  assert.equal(read("203.0.113.9", "198.51.100.1"), "203.0.113.9");
  assert.equal(read("203.0.113.9", "198.51.100.1", []), "203.0.113.9");
  assert.equal(read(PROXY, "198.51.100.1", []), PROXY);
});

test("of a list only what trusted proxies have added counts", () => {
  assert.equal(read(PROXY, "198.51.100.1"), "198.51.100.1");
  assert.equal(read(PROXY, "1.1.1.1, 198.51.100.1, 10.2.3.4"), "198.51.100.1");
  assert.equal(read("::ffff:10.0.0.7", "10.9.9.9, fd00::1"), "10.9.9.9");
});

test("a request without a connection counts as one address", () => {
  assert.equal(read(undefined, "198.51.100.1"), "unknown");
  assert.equal(addressOf({ raw: request(undefined) }), "unknown");
});

test("a short spelling is no address, and so no proxy's", () => {
  assert.equal(read(PROXY, "198.51.100.1, 10.1"), "10.1");
});

test("reads every list as the framework does", async () => {
  const app = Fastify({ trustProxy: trusted });
  app.get("/", async ({ ip }) => ({ ip }));
  const parts = [
    ...["198.51.100.1", "10.1.1.1", "192.0.2.1", "fd00::2", "2001:db8::1", "::ffff:10.1.2.3", "::1"],
    ...["", " ", "unknown", "10.1.1.1:4711", "[fd00::2]", "_hidden", "999.1.1.1", "\u00e6", "fe80::1%eth0"],
  ];
  const lists = parts.flatMap((one) =>
    parts.flatMap((two) => [one, `${one},${two}`, `${one} ,\t${two}, 10.0.0.1`]),
  );
  for (const remoteAddress of [PROXY, "203.0.113.9", "::ffff:192.0.2.1"])
    for (const list of lists) {
      const answer = await app.inject({ url: "/", remoteAddress, headers: { "x-forwarded-for": list } });
      assert.equal(
        read(remoteAddress, list),
        answer.json<{ ip: string }>().ip,
        `${remoteAddress} ${JSON.stringify(list)}`,
      );
    }
  await app.close();
});
