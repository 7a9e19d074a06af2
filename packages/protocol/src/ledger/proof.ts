/** An inclusion proof with the checkpoint that it leads to, as text (C2SP tlog-proof). */
import { HASH_BYTES } from "./merkle.ts";

export interface LedgerProof {
  /** The entry itself, which is needed to compute the leaf hash. */
  readonly entry: string;
  readonly index: number;
  readonly proof: readonly Buffer[];
  /** A signed note. */
  readonly checkpoint: string;
}

export const formatLedgerProof = ({ entry, index, proof, checkpoint }: LedgerProof): string =>
  [
    "c2sp.org/tlog-proof@v1",
    `extra ${Buffer.from(entry).toString("base64")}`,
    `index ${index}`,
    ...proof.map((one) => one.toString("base64")),
    "",
    checkpoint,
  ].join("\n");

/** @returns undefined when it is not such a proof; nothing is verified */
export function parseLedgerProof(text: string): LedgerProof | undefined {
  const end = text.indexOf("\n\n");
  const [head, extra = "", index = "", ...lines] = text.slice(0, Math.max(0, end)).split("\n");
  const proof = lines.map((line) => Buffer.from(line, "base64"));
  if (head !== "c2sp.org/tlog-proof@v1" || !/^extra [A-Za-z0-9+/]+={0,2}$/.test(extra)) return undefined;
  if (!/^index (0|[1-9][0-9]{0,15})$/.test(index) || proof.length > 63) return undefined;
  if (!proof.every((one, at) => one.length === HASH_BYTES && one.toString("base64") === lines[at]))
    return undefined;
  return {
    entry: Buffer.from(extra.slice("extra ".length), "base64").toString(),
    index: Number(index.slice("index ".length)),
    proof,
    checkpoint: text.slice(end + 2),
  };
}
