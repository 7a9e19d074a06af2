/**
 * The images of an organisation's sign-in page. Settings name each by the digest of its content, so that a page needs no query
 * for its addresses and a browser may keep what it got.
 */
import { createHash } from "node:crypto";
import { boundTo } from "../../db/open.ts";
import type { RecordDeps } from "../record-changes.ts";
import { type ImageType, readImageHeader } from "./image-file.ts";
import { type ImageKind, type ImageRef, imageKinds } from "./image-kinds.ts";
import { deleteUnnamedImages, insertImage } from "./images.store.ts";
import type { Organisation, OrganisationSettings } from "./organisation.ts";
import { lockOrganisation } from "./organisations.store.ts";
import { changeOrganisationSettings, type OrganisationChange } from "./organisations.ts";

export interface NewImage extends ImageRef {
  readonly type: ImageType;
  readonly bytes: Buffer;
}

export interface ImageRule {
  readonly types: readonly ImageType[];
  readonly maxBytes: number;
  /** Pixels. */
  readonly sides: { readonly least: number; readonly most: number };
}

const picture: readonly ImageType[] = ["image/png", "image/jpeg", "image/webp"];
const logo: ImageRule = { types: picture, maxBytes: 64 * 1024, sides: { least: 16, most: 2_048 } };

export const imageRules: Readonly<Record<ImageKind, ImageRule>> = {
  logo,
  darkLogo: logo,
  favicon: {
    types: ["image/png", "image/x-icon"],
    maxBytes: 32 * 1024,
    sides: { least: 16, most: 512 },
  },
  panel: { types: picture, maxBytes: 512 * 1024, sides: { least: 320, most: 4_096 } },
};

export type ImageFault = "image-form" | "image-size" | "image-sides";

/** Checks a file against the rules of its kind. */
export function readImage(kind: ImageKind, file: Uint8Array): NewImage | ImageFault {
  const { types, maxBytes, sides } = imageRules[kind];
  // Before anything is read of it.
  if (file.length > maxBytes) return "image-size";
  const header = readImageHeader(file);
  if (!header || !types.includes(header.type)) return "image-form";
  const { type, width, height } = header;
  if ([width, height].some((side) => side < sides.least || side > sides.most)) return "image-sides";
  const bytes = Buffer.from(file);
  return { digest: digestOf(bytes), width, height, type, bytes };
}

const digestOf = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("base64url");

/** A new image, or null to remove the present one. */
export type ImageChanges = Readonly<Partial<Record<ImageKind, NewImage | null>>>;

/**
 * Changes images with other settings, all or nothing. An image that settings name no longer is deleted.
 * @throws as `changeOrganisationSettings`
 */
export async function changeImages(
  deps: RecordDeps,
  images: ImageChanges,
  { settings: wanted, ...change }: OrganisationChange,
): Promise<OrganisationSettings | undefined> {
  const { orgId } = change;
  return deps.database.transaction(async (tx) => {
    // Before the first image is written: a concurrent change must not delete it as unnamed.
    if (!(await lockOrganisation(tx, orgId))) return undefined;
    for (const image of Object.values(images))
      if (image) await insertImage(tx, { orgId, ...image, createdAt: deps.clock() });
    const inside = { ...deps, database: boundTo(deps.database, tx) };
    const settings = await changeOrganisationSettings(inside, {
      ...change,
      settings: (before) =>
        withImages(before, images, typeof wanted === "function" ? wanted(before) : wanted),
    });
    const named = Object.values(settings?.images ?? {}).map(({ digest }) => digest);
    await deleteUnnamedImages(tx, orgId, named);
    return settings;
  });
}

/** A logo replaces, and its removal removes, one that is stored as a `data:` URL. */
function withImages(
  before: Organisation,
  changes: ImageChanges,
  settings: Partial<OrganisationSettings>,
): Partial<OrganisationSettings> {
  const images = { ...before.settings.images };
  for (const kind of imageKinds) {
    const image = changes[kind];
    if (image === null) delete images[kind];
    else if (image) images[kind] = { digest: image.digest, width: image.width, height: image.height };
  }
  if (changes.logo === undefined) return { ...settings, images };
  const { logoUri: _, ...branding } = settings.branding ?? before.settings.branding;
  return { ...settings, branding, images };
}

/**
 * The images in use, each with the content that has no row of its own: a logo in a `data:` URL, which a configuration file
 * or an earlier release has set, is the organisation's logo.
 */
export function imagesOf({
  branding,
  images,
}: Pick<OrganisationSettings, "branding" | "images">): OrganisationSettings["images"] {
  const inline = inlineLogo(branding.logoUri);
  return inline ? { ...images, logo: inline } : images;
}

/** Decoding and hashing 8 KiB on each page is avoidable: settings are cached objects, but their strings are equal anyway. */
let lastInline: { uri: string; image: NewImage | undefined } | undefined;

export function inlineLogo(uri: string | undefined): NewImage | undefined {
  if (!uri?.startsWith("data:image/png;base64,")) return undefined;
  if (lastInline?.uri !== uri) {
    const file = Buffer.from(uri.slice(uri.indexOf(",") + 1), "base64");
    const image = readImage("logo", file);
    lastInline = { uri, image: typeof image === "string" ? undefined : image };
  }
  return lastInline.image;
}
