/** GET /oauth/{org}/images/{digest}: an image that the organisation's pages show. */
import type { FastifyInstance } from "fastify";
import { findImage, type StoredImage } from "../../core/organisations/images.store.ts";
import { inlineLogo } from "../../core/organisations/images.ts";
import type { Organisation } from "../../core/organisations/organisation.ts";
import type { OrganisationDirectory } from "../../core/organisations/organisations.ts";
import type { Database } from "../../db/open.ts";
import { NotFound } from "../../http/errors.ts";
import { inOrganisation } from "../../http/organisation-lookup.ts";
import { sendBytes } from "../../http/send-bytes.ts";
import { type ImageMemory, imageMemory } from "./image-memory.ts";

export interface ImagesDeps {
  readonly database: Database;
  readonly organisations: OrganisationDirectory;
}

export function imagesRoute(app: FastifyInstance, deps: ImagesDeps): void {
  const memory = imageMemory(MEMORY_BYTES, (key) => findImage(deps.database.query, key));
  app.get(
    "/oauth/:org/images/:digest",
    inOrganisation<Organisation>(deps.organisations.find, async ({ organisation, request, reply }) => {
      const { digest = "" } = request.params as { digest?: string };
      const image = await imageOf(deps, memory, organisation, digest);
      if (!image) throw new NotFound("image");
      const etag = `"${digest}"`;
      reply.headers({
        etag,
        "cache-control": "public, max-age=31536000, immutable",
        "content-type": image.type,
        "x-content-type-options": "nosniff",
        // Opened by itself, it is an image and nothing else.
        "content-security-policy": "default-src 'none'; frame-ancestors 'none'; sandbox",
      });
      if (request.headers["if-none-match"] === etag) await reply.code(304).send();
      else await sendBytes(reply, image.bytes);
      return reply;
    }),
  );
}

/** Two dozen of the largest pictures, thousands of logos. */
const MEMORY_BYTES = 12 * 1024 * 1024;

/** SHA-256, base64url. */
const DIGEST = /^[A-Za-z0-9_-]{43}$/;

async function imageOf(
  { database }: ImagesDeps,
  memory: ImageMemory,
  { id: orgId, settings }: Organisation,
  digest: string,
): Promise<StoredImage | undefined> {
  if (!DIGEST.test(digest)) return undefined;
  const inline = inlineLogo(settings.branding.logoUri);
  if (inline?.digest === digest) return inline;
  const key = { orgId, digest };
  const isNamed = Object.values(settings.images).some((one) => one.digest === digest);
  // Another node may have stored it in this moment. What is removed is in no memory's reach.
  return isNamed ? memory.find(key) : findImage(database.query, key);
}
