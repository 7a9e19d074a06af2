/** Verifies that an entry is in a witnessed log (C2SP tlog-proof, tlog-checkpoint), with the keys of the configuration. */
import type { LedgerSettings } from "../configuration/settings.ts";
import { configurationError, SignetError } from "../errors.ts";
import { isRecord } from "../tokens/claims.ts";
import { decodeBase64, isSameBytes, utf8 } from "./bytes.ts";
import { HASH_BYTES, leafHash, rootOfInclusion } from "./merkle.ts";
import {
  hasSigned,
  importKey,
  type Note,
  parseNote,
  parseVerifierKey,
  type WrittenKey,
} from "./signed-note.ts";

/** What the entry must say. */
export interface ExpectedEntry {
  /** Of the signing input, base64url. */
  readonly sha256: string;
  readonly kid: string | undefined;
  readonly kind: string;
}

interface TrustedKey {
  readonly written: WrittenKey;
  readonly key: CryptoKey;
}

interface ParsedProof {
  readonly entry: Uint8Array<ArrayBuffer>;
  readonly index: number;
  readonly proof: readonly Uint8Array[];
  readonly note: Note;
  readonly origin: string;
  readonly size: number;
  readonly root: Uint8Array;
}

/** Longer paths belong to no tree. */
const MAX_PATH = 63;

const invalid = (reason: string): SignetError =>
  new SignetError("ledger_proof_invalid", `The ledger's proof is invalid: ${reason}.`, {
    description: "The ledger's proof of the token's signature is invalid.",
  });

/** @throws SignetError `ledger_proof_invalid`, `ledger_not_witnessed`; `configuration` for a misspelt key */
export function createProofVerifier({ key, witnesses, quorum }: LedgerSettings) {
  let loading: Promise<readonly [TrustedKey, ...TrustedKey[]]> | undefined;
  return async (text: string, expected: ExpectedEntry): Promise<void> => {
    loading ??= importKeys(key, witnesses);
    const [log, ...cosigners] = await loading;
    const parsed = parseProof(text);
    if (!parsed) throw invalid("it is not a tlog-proof");
    requireEntry(parsed.entry, expected);
    if (parsed.origin !== log.written.name) throw invalid("it is of another log");
    if (!(await hasSigned(parsed.note, log.written, log.key)))
      throw invalid("its checkpoint is not signed with the configured key");
    const root = await rootOfInclusion(await leafHash(parsed.entry), parsed);
    if (!root || !isSameBytes(root, parsed.root)) throw invalid("it does not lead to its checkpoint");
    const cosigned = await Promise.all(cosigners.map((one) => hasSigned(parsed.note, one.written, one.key)));
    const count = cosigned.filter((one) => one).length;
    if (count < quorum) throw notWitnessed(`${count} of ${quorum} witnesses have cosigned its checkpoint`);
  };
}

/** What the service says, or what was found in its answer. */
export const notWitnessed = (reason: string): SignetError =>
  new SignetError("ledger_not_witnessed", `The token's signature is not witnessed yet: ${reason}.`, {
    description: "The token's signature is not witnessed yet.",
  });

async function importKeys(log: string, witnesses: readonly string[]) {
  const trusted = async (text: string): Promise<TrustedKey> => {
    const written = parseVerifierKey(text);
    // checkConfiguration has parsed it.
    if (!written) throw configurationError("A ledger key is malformed.");
    return { written, key: await importKey(written) };
  };
  return [await trusted(log), ...(await Promise.all(witnesses.map(trusted)))] as const;
}

const header = "c2sp.org/tlog-proof@v1";

function parseProof(text: string): ParsedProof | undefined {
  const end = text.indexOf("\n\n");
  const [head, extra = "", index = "", ...path] = text.slice(0, Math.max(0, end)).split("\n");
  const entry = extra.startsWith("extra ") ? decodeBase64(extra.slice("extra ".length)) : undefined;
  const place = index.startsWith("index ") ? parseSize(index.slice("index ".length)) : undefined;
  const proof = path.map(decodeBase64).filter((hash) => hash?.length === HASH_BYTES);
  if (head !== header || !entry || place === undefined || proof.length !== path.length) return undefined;
  if (path.length > MAX_PATH) return undefined;
  const note = parseNote(text.slice(end + 2));
  const [origin = "", size = "", hash = ""] = note?.text.split("\n") ?? [];
  const root = decodeBase64(hash);
  const count = parseSize(size);
  if (!note || count === undefined || root?.length !== HASH_BYTES) return undefined;
  return { entry, index: place, proof: proof as Uint8Array[], note, origin, size: count, root };
}

const parseSize = (text: string): number | undefined =>
  /^(0|[1-9][0-9]{0,15})$/.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) : undefined;

/** Else a proof of any other signature would do. */
function requireEntry(bytes: Uint8Array<ArrayBuffer>, { sha256, kid, kind }: ExpectedEntry): void {
  let entry: unknown;
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    entry = JSON.parse(text);
    // One spelling: of members that are written twice somebody else may read the first.
    if (!isSameBytes(utf8(JSON.stringify(entry)), bytes)) throw invalid("its entry is malformed");
  } catch {
    throw invalid("its entry is malformed");
  }
  if (!isRecord(entry) || entry["v"] !== 1) throw invalid("its entry is of another version");
  if (entry["sha256"] !== sha256) throw invalid("it is of another signature");
  if (kid !== undefined && entry["kid"] !== kid) throw invalid("its entry names another key");
  if (entry["kind"] !== kind) throw invalid("its entry is of another kind of token");
}
