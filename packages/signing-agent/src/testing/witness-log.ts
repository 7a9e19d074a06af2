/** A log whose checkpoints a witness is asked for, and a witness in a folder of its own. */
import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { formatAddCheckpoint, formatCheckpoint } from "@signet/protocol/ledger/checkpoint";
import { appendLeaves, consistencyProof, emptyEdge, leafHash, rootOf } from "@signet/protocol/ledger/merkle";
import { formatVerifierKey, rawPublicKey, signNote } from "@signet/protocol/ledger/note";
import { runAgentCommandLine } from "../commands/agent-command-line.ts";

export type WitnessLog = ReturnType<typeof witnessLog>;

/** A log with a key of its own. Trees of one name continue each other. */
export function witnessLog(origin: string) {
  const { privateKey } = generateKeyPairSync("ed25519");
  const treeOf = (size: number, name: string) => {
    const leaves = Array.from({ length: size }, (_, at) => leafHash(Buffer.from(`${name} ${at}`)));
    return appendLeaves(emptyEdge, leaves);
  };
  return {
    origin,
    verifierKey: formatVerifierKey({ name: origin, type: 1, publicKey: rawPublicKey(privateKey) }),
    checkpoint: (size: number, name = "entry") =>
      signNote(formatCheckpoint({ origin, size, root: rootOf(treeOf(size, name).edge) }), {
        ...{ name: origin, privateKey },
      }),
    /** The body of `add-checkpoint`. */
    async asked(oldSize: number, size: number, name = "entry") {
      const { tiles } = treeOf(size, name);
      const read = async (level: number, index: number) =>
        tiles.find((tile) => tile.level === level && tile.index === index)?.hashes ?? Buffer.alloc(0);
      const proof = oldSize > size ? [] : await consistencyProof(read, oldSize, size);
      return formatAddCheckpoint({ oldSize, proof, checkpoint: this.checkpoint(size, name) });
    },
  };
}

/** By `signet-agent witness create`, listening on any free port. @returns its key and `witness.yaml` */
export async function createWitness(folder: string, logs: readonly string[], name = "w.example/1") {
  const printed: string[] = [];
  const io = { print: (line: string) => void printed.push(line), printError: assert.fail, clock: Date.now };
  const words = ["witness", "create", "--name", name, "--dir", folder];
  const code = await runAgentCommandLine(words, { ...io, terminal: undefined, onSignal: () => {} });
  assert.equal(code, 0);
  const config = path.join(folder, "witness.yaml");
  await setWitnessLogs(config, logs);
  return { config, verifierKey: printed[0] ?? "" };
}

export async function setWitnessLogs(config: string, logs: readonly string[]): Promise<void> {
  const text = await readFile(config, "utf8");
  const changed = text
    .replace(/^logs: .*$/m, `logs: ${JSON.stringify(logs)}`)
    .replace(/port: \d+/, "port: 0");
  await writeFile(config, changed);
}
