/** Checkpoints of a log (C2SP tlog-checkpoint) and what is sent to a witness (C2SP tlog-witness). */
import { HASH_BYTES } from "./merkle.ts";
import { type Note, parseNote } from "./note.ts";

export interface Checkpoint {
  /** Names the log: its address without the scheme. */
  readonly origin: string;
  readonly size: number;
  readonly root: Buffer;
}

export const formatCheckpoint = ({ origin, size, root }: Checkpoint): string =>
  `${origin}\n${size}\n${root.toString("base64")}\n`;

/** @param text of a note; extension lines are allowed and left out */
export function parseCheckpoint(text: string): Checkpoint | undefined {
  const [origin = "", size = "", encoded = "", ...more] = text.split("\n");
  const root = Buffer.from(encoded, "base64");
  if (origin === "" || !isSize(size) || root.length !== HASH_BYTES || root.toString("base64") !== encoded)
    return undefined;
  // The last part follows the last line end.
  if (more.at(-1) !== "" || more.slice(0, -1).includes("")) return undefined;
  return { origin, size: Number(size), root };
}

const isSize = (text: string): boolean =>
  /^(0|[1-9][0-9]{0,15})$/.test(text) && Number.isSafeInteger(Number(text));

/** A checkpoint with its signatures, none of which is verified. */
export interface SignedCheckpoint extends Checkpoint {
  readonly note: Note;
}

export function parseSignedCheckpoint(text: string): SignedCheckpoint | undefined {
  const note = parseNote(text);
  const checkpoint = note && parseCheckpoint(note.text);
  return note && checkpoint && { ...checkpoint, note };
}

/** The body of `add-checkpoint`. */
export interface AddCheckpoint {
  readonly oldSize: number;
  readonly proof: readonly Buffer[];
  /** A signed note. */
  readonly checkpoint: string;
}

export const formatAddCheckpoint = ({ oldSize, proof, checkpoint }: AddCheckpoint): string =>
  [`old ${oldSize}`, ...proof.map((one) => one.toString("base64")), "", checkpoint].join("\n");

export function parseAddCheckpoint(body: string): AddCheckpoint | undefined {
  const end = body.indexOf("\n\n");
  if (end < 0) return undefined;
  const [first = "", ...lines] = body.slice(0, end).split("\n");
  const size = first.startsWith("old ") ? first.slice(4) : "";
  const proof = lines.map((line) => Buffer.from(line, "base64"));
  const isSound = proof.every((one, at) => one.length === HASH_BYTES && one.toString("base64") === lines[at]);
  if (!isSize(size) || !isSound || proof.length > 63) return undefined;
  return { oldSize: Number(size), proof, checkpoint: body.slice(end + 2) };
}
