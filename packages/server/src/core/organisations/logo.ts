/**
 * An organisation's logo: a small PNG inside its own address, because every sign-in page carries it and asks nobody for
 * anything. SVG is refused: it is a document that can hold scripts and addresses, not just a picture.
 */

/** With it a sign-in page stays under 30 KB. */
export const MOST_LOGO_BYTES = 8 * 1024;
export const logoSides = { least: 16, most: 1_024 } as const;

export type LogoFault = "logo-form" | "logo-size" | "logo-sides";

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const PREFIX = "data:image/png;base64,";

export const logoUriOf = (png: Uint8Array): string => `${PREFIX}${Buffer.from(png).toString("base64")}`;

/** The bytes of a file, looked at as far as its header says what it is (PNG §5.2, §11.2.2). */
export function pngFault(bytes: Uint8Array): LogoFault | undefined {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const isPng =
    file.length >= 33 && file.subarray(0, 8).equals(SIGNATURE) && file.toString("latin1", 12, 16) === "IHDR";
  if (!isPng) return "logo-form";
  if (file.length > MOST_LOGO_BYTES) return "logo-size";
  const sides = [file.readUInt32BE(16), file.readUInt32BE(20)];
  const { least, most } = logoSides;
  return sides.every((side) => side >= least && side <= most) ? undefined : "logo-sides";
}

/** The same of an address `data:image/png;base64,…`. */
export function logoUriFault(uri: string): LogoFault | undefined {
  const text = uri.slice(PREFIX.length);
  // Base64 alone: the address stands in pages, and nothing else may stand in it.
  if (!uri.startsWith(PREFIX) || !/^[A-Za-z0-9+/]+={0,2}$/.test(text)) return "logo-form";
  if (text.length > Math.ceil(MOST_LOGO_BYTES / 3) * 4) return "logo-size";
  return pngFault(Buffer.from(text, "base64"));
}
