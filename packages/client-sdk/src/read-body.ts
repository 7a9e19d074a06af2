/** Bodies of requests and responses, read up to a limit. */
import { SignetError } from "./errors.ts";

/** Undefined if the body is too large. @throws SignetError if the caller disconnects, which is not a programming error */
export async function readRequestBody(
  request: Request,
  maxBytes: number,
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const reader = request.body?.getReader();
  const interrupted = (cause: unknown): never => {
    throw new SignetError("request_malformed", "The body was interrupted.", { cause });
  };
  const body = await readBody(reader && (() => reader.read().catch(interrupted)), maxBytes);
  // Not awaited: of a cloned request it settles only when the other copy is read or cancelled too.
  if (body === undefined) reader?.cancel().catch(() => {});
  return body;
}

/** @param read the next chunk; throws its own errors. @returns undefined as soon as there are more than `maxBytes` */
export async function readBody(
  read: (() => Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>) | undefined,
  maxBytes: number,
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  while (read) {
    const { value } = await read();
    if (value === undefined) break;
    length += value.length;
    if (length > maxBytes) return undefined;
    chunks.push(value);
  }
  return concatBytes(chunks);
}

export function concatBytes(chunks: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(chunks.reduce((sum, { length }) => sum + length, 0));
  let offset = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, offset);
    offset += chunk.length;
  }
  return bytes;
}
