// The peer as a process. It is asked for fresh codes and tokens, so that only the exchange itself is measured.
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { answerQuestions } from "../child-side.ts";
import { createPeer } from "./peer-provider.ts";
import { seedPeer } from "./peer-seeds.ts";
import type { SeedKind } from "./works.ts";

const server = createServer().listen(0, "127.0.0.1");
await once(server, "listening");
const { port } = server.address() as AddressInfo;
const store = new Map<string, unknown>();
const peer = createPeer(`http://localhost:${port}`, store);
server.on("request", peer.callback());

answerQuestions<{ kind: SeedKind; count: number }, string[]>({ port }, ({ kind, count }) =>
  seedPeer(peer, store, kind, count),
);
