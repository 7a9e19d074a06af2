/** Every copy of the bytes that has one bit flipped. @param step every so many bits, where all would take too long */
export function* mutationsOf(bytes: Buffer, step = 1): Generator<Buffer> {
  for (let bit = 0; bit < bytes.length * 8; bit += step) {
    const copy = Buffer.from(bytes);
    copy[bit >> 3] = (copy[bit >> 3] ?? 0) ^ (0x80 >> (bit & 7));
    yield copy;
  }
}
