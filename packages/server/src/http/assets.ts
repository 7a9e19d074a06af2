/** The stylesheets and scripts of the pages: their path changes with their content, so they are cached permanently. */
import type { FastifyInstance } from "fastify";
import { sendBytes } from "./send-bytes.ts";

export interface ServedAsset {
  readonly path: string;
  readonly contentType: string;
  readonly bytes: Buffer;
  readonly etag: string;
}

export function assetRoutes(app: FastifyInstance, assets: readonly ServedAsset[]): void {
  const byPath = new Map(assets.map((asset) => [asset.path, asset]));
  app.get("/assets/:file", async (request, reply) => {
    const asset = byPath.get(`/assets/${(request.params as { file: string }).file}`);
    if (!asset) return reply.callNotFound();
    reply.headers({
      "cache-control": "public, max-age=31536000, immutable",
      etag: asset.etag,
      "x-content-type-options": "nosniff",
      "content-type": asset.contentType,
    });
    if (request.headers["if-none-match"] === asset.etag) await reply.code(304).send();
    else await sendBytes(reply, asset.bytes);
    return reply;
  });
}
