/** The stylesheets, scripts and fonts of the pages: their path changes with their content, so they are cached permanently. */
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import type { FastifyInstance } from "fastify";
import { sendBytes } from "./send-bytes.ts";

export interface ServedAsset {
  readonly path: string;
  readonly contentType: string;
  readonly bytes: Buffer;
  readonly etag: string;
}

/** A content coding (RFC 9110 §8.4.1) and what it makes of bytes, best first. */
const CODINGS = [
  {
    name: "br",
    encode: (bytes: Buffer) =>
      promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }),
  },
  { name: "gzip", encode: (bytes: Buffer) => promisify(gzip)(bytes, { level: 9 }) },
] as const;

export function assetRoutes(app: FastifyInstance, assets: readonly ServedAsset[]): void {
  const byPath = new Map(assets.map((asset) => [asset.path, encodedOnce(asset)]));
  app.get("/assets/:file", async (request, reply) => {
    const representationFor = byPath.get(`/assets/${(request.params as { file: string }).file}`);
    if (!representationFor) return reply.callNotFound();
    const { bytes, headers } = await representationFor(request.headers["accept-encoding"]);
    reply.headers(headers);
    if (request.headers["if-none-match"] === headers.etag) await reply.code(304).send();
    else await sendBytes(reply, bytes);
    return reply;
  });
}

/** Each coding is made at the first request that accepts it, and kept: a start waits for none. */
function encodedOnce(asset: ServedAsset) {
  const made = new Map<string, Promise<Buffer>>();
  const headers = {
    "cache-control": "public, max-age=31536000, immutable",
    "x-content-type-options": "nosniff",
    "content-type": asset.contentType,
  };
  // A font file is compressed already.
  const codings = asset.contentType.startsWith("text/") ? CODINGS : [];
  return async (accepted = "") => {
    const coding = codings.find(({ name }) => accepts(accepted, name));
    const vary = codings.length > 0 ? { vary: "accept-encoding" } : {};
    if (!coding) return { bytes: asset.bytes, headers: { ...headers, ...vary, etag: asset.etag } };
    const bytes = made.get(coding.name) ?? coding.encode(asset.bytes);
    made.set(coding.name, bytes);
    // Another representation has another strong entity tag (RFC 9110 §8.8.3).
    const etag = asset.etag.replace(/"$/, `-${coding.name}"`);
    return { bytes: await bytes, headers: { ...headers, ...vary, "content-encoding": coding.name, etag } };
  };
}

/** RFC 9110 §12.5.3. `*` is not served: whoever says only that gets the file itself. */
const accepts = (accepted: string, coding: string): boolean =>
  accepted.split(",").some((part) => {
    const [name = "", ...parameters] = part.split(";").map((piece) => piece.trim().toLowerCase());
    return name === coding && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter));
  });
