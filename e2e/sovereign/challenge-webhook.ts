/** The organisation's own program that reaches its users, as an agent's webhook calls it (docs/signing-agent.md). */
import assert from "node:assert/strict";
import { once } from "node:events";
import { appendFile, writeFile } from "node:fs/promises";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { text } from "node:stream/consumers";
import { type Question, webhookSignature } from "../../packages/signing-agent/src/challenges/channel.ts";

export interface Asked {
  readonly question: Question;
  /** What the user typed there. */
  reply(answer: string): void;
}

export interface ChallengeWebhook {
  /** The agent of this folder asks here. */
  useFor(folder: string): Promise<void>;
  /** The question that nobody has taken yet; waits for it, 60 seconds at most. */
  asked(): Promise<Asked>;
  close(): Promise<void>;
}

const secret = "the agent and its webhook know it";
const longestMs = 60_000;

export async function openChallengeWebhook(): Promise<ChallengeWebhook> {
  const arrived: Asked[] = [];
  const server = createServer(async (request, response) => {
    const body = await text(request);
    const { "signet-agent-timestamp": at, "signet-agent-signature": signature } = request.headers;
    assert.equal(signature, webhookSignature(secret, String(at), body));
    arrived.push({ question: JSON.parse(body) as Question, reply: (answer) => answerWith(response, answer) });
    server.emit("asked");
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    useFor: async (folder) => {
      await writeFile(path.join(folder, "webhook-secret"), `${secret}\n`, { mode: 0o600 });
      const webhook = `{ url: "http://127.0.0.1:${port}/", secretFile: webhook-secret }`;
      await appendFile(
        path.join(folder, "agent.yaml"),
        `challenges: { channel: webhook, webhook: ${webhook} }\n`,
      );
    },
    asked: async () => {
      if (arrived.length === 0) await once(server, "asked", { signal: AbortSignal.timeout(longestMs) });
      return arrived.shift() ?? assert.fail("somebody else took the question");
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function answerWith(response: ServerResponse, answer: string): void {
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify({ outcome: "answered", answer }));
}
