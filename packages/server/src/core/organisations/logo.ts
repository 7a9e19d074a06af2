/**
 * An organisation's logo: a small PNG as a `data:` URL, because every sign-in page contains it and loads nothing from
 * elsewhere. SVG is rejected: it can contain scripts and URLs.
 */

/** Keeps a sign-in page under 30 KB. */
export const MAX_LOGO_BYTES = 8 * 1024;
export const logoSides = { least: 16, most: 1_024 } as const;

export type LogoFault = "logo-form" | "logo-size" | "logo-sides";

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const PREFIX = "data:image/png;base64,";

export const logoUriOf = (png: Uint8Array): string => `${PREFIX}${Buffer.from(png).toString("base64")}`;

/** Checks the header of a PNG file (PNG §5.2, §11.2.2). */
export function pngFault(bytes: Uint8Array): LogoFault | undefined {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const isPng =
    file.length >= 33 && file.subarray(0, 8).equals(SIGNATURE) && file.toString("latin1", 12, 16) === "IHDR";
  if (!isPng) return "logo-form";
  if (file.length > MAX_LOGO_BYTES) return "logo-size";
  const sides = [file.readUInt32BE(16), file.readUInt32BE(20)];
  const { least, most } = logoSides;
  return sides.every((side) => side >= least && side <= most) ? undefined : "logo-sides";
}

/** The same for a URL `data:image/png;base64,…`. */
export function logoUriFault(uri: string): LogoFault | undefined {
  const text = uri.slice(PREFIX.length);
  // Base64 only: the URL is written into pages.
  if (!uri.startsWith(PREFIX) || !/^[A-Za-z0-9+/]+={0,2}$/.test(text)) return "logo-form";
  if (text.length > Math.ceil(MAX_LOGO_BYTES / 3) * 4) return "logo-size";
  return pngFault(Buffer.from(text, "base64"));
}
