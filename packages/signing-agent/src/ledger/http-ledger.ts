/** Reads a ledger by its address, bounded in time and size. */

const TIMEOUT_MS = 5_000;
const MAX_BYTES = 65_536;

/** @returns undefined for 404. @throws Error without an answer, or with another one. @param path below the ledger's address */
export type ReadLedger = (path: string) => Promise<Buffer | undefined>;

/** The agent's own, of the service that it serves. */
export interface LedgerCredential {
  readonly service: string;
  readonly apiKey: string;
}

/** @param credential with which a ledger for members is read */
export function httpLedger(url: string, credential?: LedgerCredential): ReadLedger {
  const base = url.replace(/\/+$/, "");
  const headers =
    credential && isAt(url, credential.service) ? { authorization: `Bearer ${credential.apiKey}` } : {};
  return async (path) => {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const answer = await fetch(`${base}/${path}`, { signal, headers, redirect: "error" });
    if (answer.status === 404) {
      await answer.body?.cancel();
      return undefined;
    }
    if (!answer.ok) throw new Error(`the ledger answered ${answer.status}`);
    return readBounded(answer);
  };
}

/** The API key is for nobody but the service that has made it, whatever the ledger's address is. */
const isAt = (url: string, service: string): boolean => new URL(url).origin === new URL(service).origin;

async function readBounded({ body }: Response): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body ?? []) {
    length += chunk.length;
    if (length > MAX_BYTES) throw new Error("the ledger's answer is too long");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
