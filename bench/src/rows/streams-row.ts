/** Idle long polls: the memory of each, and how soon all hear of an event. An agent's held call stands for a stream, which does the same. */
import type { Bench } from "../bench.ts";
import { startChild } from "../child.ts";
import { insideProbe, readInside } from "../contestants/inside-probe.ts";
import { createPoolAgent } from "../contestants/pool-client.ts";
import { startSignet } from "../contestants/signet-server.ts";
import type { StreamAnswer, StreamQuestion } from "../load/held-calls.ts";
import { residentBytes } from "../machine/memory.ts";
import type { Measured, Row } from "../row.ts";

/** Of a few hundred the heap's own movements are more than the calls: a quick run does not judge. */
const COUNTS = { quick: 500, usual: 4_000, scale: 15_000 };

/**
 * What is left when garbage is collected, and the room for it given back, as V8 does by itself where nothing happens for a while. That
 * room has three sizes in the life of a process, each twice the one before: a step between the two halves would weigh more than the calls.
 */
async function held(pid: number, file: string): Promise<Held> {
  const { youngRoom } = await readInside(pid, file);
  const resident = residentBytes(pid);
  return { resident, withoutRoom: resident - youngRoom };
}

interface Held {
  readonly resident: number;
  readonly withoutRoom: number;
}

export const streamsRow: Row = { name: "streams", title: "Idle long polls", grows: true, measure };

async function measure(bench: Bench): Promise<Measured> {
  const count = COUNTS[bench.options.size];
  const probe = insideProbe(bench.newFolder("streams-probe"));
  const signet = await startSignet(bench.newFolder("streams"), {
    environment: { TRUSTED_PROXIES: "127.0.0.1", ...probe.environment },
  });
  const { demo, port, pid } = signet;
  const { apiKey, client } = await createPoolAgent(signet, bench.newFolder("stream-agent"));
  const load = await startChild<StreamQuestion, StreamAnswer>("load/held-calls.ts", []);
  const path = `${new URL(demo.issuer).pathname}/sovereign/agent/queue?wait=25`;
  const ask = (question: StreamQuestion) => load.ask(question, 120);
  const open = (number: number) =>
    ask({ kind: "open", port, path, headers: { Authorization: `Bearer ${apiKey}` }, count: number });
  // What the first ones cost is code that is compiled, and the room that the heap takes for what is soon forgotten.
  const half = count / 2;
  await open(half);
  const before = await held(pid, probe.file);
  await open(half);
  const after = await held(pid, probe.file);
  const each = (of: keyof Held) => (after[of] - before[of]) / half / 1024;
  const answered = ask({ kind: "notified" });
  // A token that an agent has to sign: news for every one of them.
  const token = fetch(`${demo.issuer}/token`, {
    method: "POST",
    body: new URLSearchParams({
      grant_type: "client_credentials",
      client_id: client.clientId,
      client_secret: client.clientSecret,
    }),
  }).catch(() => undefined);
  const { seconds, answers, firstError } = await answered;
  await signet.stop();
  await token;
  if (answers !== count) throw new Error(`${answers} of ${count} calls were answered: ${firstError}`);
  return {
    figures: {},
    checks: [
      { what: "held at once", value: count, unit: "calls" },
      {
        what: "each",
        value: each("withoutRoom"),
        unit: "KB",
        ...(bench.options.size === "quick" ? {} : { bar: { atMost: 16 } }),
      },
      { what: "each, with the room that V8 has for garbage", value: each("resident"), unit: "KB" },
      { what: "all notified after", value: seconds, unit: "s", bar: { atMost: 1 } },
    ],
  };
}
