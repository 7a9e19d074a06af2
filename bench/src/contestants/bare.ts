// The bare limit as a process: bare.ts <work> <folder>. It is asked for as many fresh values as a run needs.
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { answerQuestions } from "../child-side.ts";
import { openBareDatabase } from "./bare-database.ts";
import { type BareWork, bareHandler } from "./bare-works.ts";

const [work = "", folder = ""] = process.argv.slice(2);
const database = openBareDatabase(folder);
const server = createServer(bareHandler(work as BareWork, database)).listen(0, "127.0.0.1");
await once(server, "listening");
const { port } = server.address() as AddressInfo;

answerQuestions<number, string[]>({ port }, async (count) => database.seed(count));
