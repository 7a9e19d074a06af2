/** Bodies of requests and responses, read up to a limit. */

/**
 * @param read the next chunk; throws what a broken connection means to the caller
 * @returns undefined as soon as there are more than `maxBytes`
 */
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
