/**
 * What an uploaded image is, read from its own bytes: never from its name or from what a browser says. PNG, JPEG, WebP and
 * ICO only; SVG is rejected, because it can contain scripts and URLs.
 */

export type ImageType = "image/png" | "image/jpeg" | "image/webp" | "image/x-icon";

export interface ImageHeader {
  readonly type: ImageType;
  readonly width: number;
  readonly height: number;
}

/** @returns undefined for every other format, and where the header is cut off */
export function readImageHeader(bytes: Uint8Array): ImageHeader | undefined {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  try {
    return readPng(file) ?? readJpeg(file) ?? readWebp(file) ?? readIcon(file);
  } catch (error) {
    // A header that ends too early.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

const PNG_SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/** PNG §5.2, §11.2.2. */
function readPng(file: Buffer): ImageHeader | undefined {
  if (file.length < 33 || !file.subarray(0, 8).equals(PNG_SIGNATURE)) return undefined;
  if (file.toString("latin1", 12, 16) !== "IHDR") return undefined;
  return { type: "image/png", width: file.readUInt32BE(16), height: file.readUInt32BE(20) };
}

/** The frame header of a JPEG file (ITU-T T.81 §B.2.2), after any other segments. */
function readJpeg(file: Buffer): ImageHeader | undefined {
  if (file.length < 4 || file.readUInt16BE(0) !== 0xffd8) return undefined;
  let at = 2;
  while (at + 4 <= file.length) {
    if (file.readUInt8(at) !== 0xff) return undefined;
    const marker = file.readUInt8(at + 1);
    // Bytes that fill up before a marker.
    if (marker === 0xff) at += 1;
    else if (isFrameHeader(marker))
      return { type: "image/jpeg", height: file.readUInt16BE(at + 5), width: file.readUInt16BE(at + 7) };
    // The scan, the end, or a marker without a length: no frame header came before.
    else if (marker === 0xda || marker < 0xc0 || (marker >= 0xd0 && marker <= 0xd9)) return undefined;
    else at += 2 + Math.max(2, file.readUInt16BE(at + 2));
  }
  return undefined;
}

/** SOF0 to SOF15 without the tables DHT, JPG and DAC. */
const isFrameHeader = (marker: number): boolean =>
  marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);

/** RFC 9649 §2.4 to §2.7: a lossy, lossless or extended file. */
function readWebp(file: Buffer): ImageHeader | undefined {
  if (file.toString("latin1", 0, 4) !== "RIFF" || file.toString("latin1", 8, 12) !== "WEBP") return undefined;
  const type = "image/webp";
  switch (file.toString("latin1", 12, 16)) {
    case "VP8 ":
      if (file.readUIntBE(23, 3) !== 0x9d012a) return undefined;
      return { type, width: file.readUInt16LE(26) & 0x3fff, height: file.readUInt16LE(28) & 0x3fff };
    case "VP8L": {
      if (file.readUInt8(20) !== 0x2f) return undefined;
      const sides = file.readUInt32LE(21);
      return { type, width: (sides & 0x3fff) + 1, height: ((sides >>> 14) & 0x3fff) + 1 };
    }
    case "VP8X":
      return { type, width: file.readUIntLE(24, 3) + 1, height: file.readUIntLE(27, 3) + 1 };
    default:
      return undefined;
  }
}

/** An icon directory; the size is that of its largest image, which each image says itself. Each must be within the file. */
function readIcon(file: Buffer): ImageHeader | undefined {
  if (file.length < 22 || file.readUInt32LE(0) !== 0x0001_0000) return undefined;
  const count = file.readUInt16LE(4);
  if (count < 1 || count > 32) return undefined;
  let largest = 0;
  for (let at = 6; at < 6 + count * 16; at += 16) {
    const [length, start] = [file.readUInt32LE(at + 8), file.readUInt32LE(at + 12)];
    if (start + length > file.length) return undefined;
    const image = file.subarray(start, start + length);
    const sides = readPng(image) ?? readBitmap(image);
    if (!sides) return undefined;
    largest = Math.max(largest, sides.width, sides.height);
  }
  return { type: "image/x-icon", width: largest, height: largest };
}

/** BITMAPINFOHEADER; a second half of the height is the mask, and a negative height counts from the top. */
function readBitmap(image: Buffer): Pick<ImageHeader, "width" | "height"> | undefined {
  if (image.readUInt32LE(0) !== 40) return undefined;
  return { width: Math.abs(image.readInt32LE(4)), height: Math.abs(image.readInt32LE(8)) / 2 };
}
