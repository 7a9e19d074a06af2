/** Style sheets, scripts and fonts, named by their content. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

/** A static file, cacheable forever because its address changes with its content. */
export type Asset = {
  /** Address on this server, e.g. `/assets/signet.1f2e3d4c5b6a.css`. */
  readonly path: string;
  readonly contentType: string;
  readonly bytes: Buffer;
  /** Strong entity tag with its quotes (RFC 9110 §8.8.3). */
  readonly etag: string;
};

const CONTENT_TYPES = {
  css: "text/css; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  woff2: "font/woff2",
} as const;

const OPEN = Buffer.from("{\n");
const CLOSE = Buffer.from("}\n");

/**
 * Reads the files that make up an asset, once, when the module that wants it is loaded.
 * @param parts `file:` addresses, or paths beside this file
 * @param before text that is not in a file
 * @throws the file system's error when a file is missing: the server must not start without it.
 */
export function readAsset(
  name: string,
  kind: keyof typeof CONTENT_TYPES,
  parts: readonly string[],
  before = "",
): Asset {
  const file = (part: string) => readFileSync(new URL(part, import.meta.url));
  // Each script in a block of its own: what one declares is none of the others' business.
  const read = (part: string) => (kind === "js" ? Buffer.concat([OPEN, file(part), CLOSE]) : file(part));
  const bytes = Buffer.concat([Buffer.from(before), ...parts.map(read)]);
  const hash = createHash("sha256").update(bytes).digest("hex").slice(0, 16);
  return {
    path: `/assets/${name}.${hash}.${kind}`,
    contentType: CONTENT_TYPES[kind],
    bytes,
    etag: `"${hash}"`,
  };
}
