/** A witness of ledgers on loopback (C2SP tlog-witness), which knows one log. */
import { generateKeyPairSync } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import {
  cosignatureLine,
  formatVerifierKey,
  parseVerifierKey,
  rawPublicKey,
} from "@signet/protocol/ledger/note";
import { judgeCheckpoint, type WitnessedTree } from "@signet/protocol/ledger/witness-rules";

export interface TestWitness {
  readonly url: string;
  readonly verifierKey: string;
  /** The newest tree that it has cosigned. */
  latest(): WitnessedTree | undefined;
  /** How it answers in place of its own word. */
  answer: { readonly status: number; readonly body: string } | undefined;
  /** How many checkpoints were sent to it. */
  asked(): number;
  close(): Promise<void>;
}

export async function startWitness(
  name: string,
  log: { readonly origin: string; readonly verifierKey: string },
): Promise<TestWitness> {
  const { privateKey } = generateKeyPairSync("ed25519");
  const publicKey = rawPublicKey(privateKey);
  const key = parseVerifierKey(log.verifierKey);
  if (!key) throw new Error("not a verifier key");
  let latest: WitnessedTree | undefined;
  let asked = 0;
  const view = {
    keysOf: (origin: string) => (origin === log.origin ? [key] : undefined),
    latestOf: () => latest,
  };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      asked++;
      if (witness.answer) return response.writeHead(witness.answer.status).end(witness.answer.body);
      const verdict = judgeCheckpoint(Buffer.concat(chunks).toString(), view);
      if (verdict.status === 409)
        return response.writeHead(409, { "content-type": "text/x.tlog.size" }).end(`${verdict.size}\n`);
      if (verdict.status !== 200) return response.writeHead(verdict.status).end();
      latest = verdict.tree;
      const line = cosignatureLine(verdict.text, { name, privateKey }, Math.floor(Date.now() / 1_000));
      return response.writeHead(200).end(`${line}\n`);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const witness: TestWitness = {
    url: `http://127.0.0.1:${port}`,
    verifierKey: formatVerifierKey({ name, type: 4, publicKey }),
    latest: () => latest,
    answer: undefined,
    asked: () => asked,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
  return witness;
}
