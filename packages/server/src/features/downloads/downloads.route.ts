/** GET /downloads/{file}: the client SDK and those for Next.js and React, the signing agent and the device client, as npm installs them. */
import type { FastifyInstance } from "fastify";
import type { Clock } from "../../core/clock.ts";
import { ApiError } from "../../http/api/api-error.ts";
import { sendBytes } from "../../http/send-bytes.ts";
import { programFileName, programs } from "../../page-kit/program-address.ts";
import { type ProgramFiles, programFiles } from "./program-files.ts";

export interface DownloadsDeps {
  readonly version: string;
  readonly clock: Clock;
  /** For tests. */
  readonly files?: ProgramFiles;
}

export function downloadsRoute(app: FastifyInstance, { version, clock, files }: DownloadsDeps): void {
  const names = programs.map((program) => programFileName(program, version));
  const offered = files ?? programFiles(names, clock);
  const caching = offered.isImmutable ? "public, max-age=31536000, immutable" : "no-cache";
  app.get("/downloads/:file", async (request, reply) => {
    const name = (request.params as { file: string }).file;
    if (!names.includes(name)) return reply.callNotFound();
    const { bytes, etag } = await offered.read(name).catch((cause: unknown) => {
      const title = "The service is temporarily unavailable";
      throw new ApiError(503, "unavailable", title, { retryAfterSeconds: 60, cause });
    });
    reply.headers({
      "cache-control": caching,
      "x-content-type-options": "nosniff",
      "content-type": "application/gzip",
      "content-disposition": `attachment; filename="${name}"`,
      etag,
    });
    if (request.headers["if-none-match"] === etag) await reply.code(304).send();
    else await sendBytes(reply, bytes);
    return reply;
  });
}
