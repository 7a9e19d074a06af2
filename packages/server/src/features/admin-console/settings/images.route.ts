/** settings/logo: the images of the sign-in page, each a small file, or none. */
import type { FastifyInstance } from "fastify";
import { type ImageKind, imageKinds } from "../../../core/organisations/image-kinds.ts";
import {
  changeImages,
  type ImageChanges,
  type ImageFault,
  imagesOf,
  type NewImage,
  readImage,
} from "../../../core/organisations/images.ts";
import type { Organisation } from "../../../core/organisations/organisation.ts";
import type { PageOrganisation } from "../../../html/layout.ts";
import { acceptFiles } from "../../../http/file-form.ts";
import { imageUriNames } from "../../../page-kit/console-frame.ts";
import { type EditForm, editRoute } from "../../../page-kit/edit-form.ts";
import { type ConsoleDeps, consolePath, consoleRoute } from "../../../page-kit/page.ts";
import { imagesPage } from "./images.page.ts";
import { organisationRecord } from "./organisation-record.ts";
import { type SignInPreviewDeps, showSignIn } from "./show-sign-in.ts";

/** All four files at their largest, as the multipart form sends them. */
const BODY_LIMIT = 1024 * 1024;

export function imagesRoute(app: FastifyInstance, deps: SignInPreviewDeps): void {
  // In its own scope: the only form of this size.
  void app.register(async (scope) => {
    acceptFiles(scope, BODY_LIMIT);
    editRoute(scope, deps, "/oauth/manage/:org/settings/logo", images);
    consoleRoute(scope, deps, "/oauth/manage/:org/settings/logo/preview", {
      get: (_, visit) => showSignIn(deps, visit, preview),
      post: (_, visit) => showSignIn(deps, visit, preview),
    });
  });
}

const preview = {
  path: "/settings/logo",
  withDraft: (record: Organisation, values: ReadonlyMap<string, string>): Organisation => {
    const kept = Object.entries(present(record)).filter(([kind]) => !values.has(`remove-${kind}`));
    const { logoUri, ...branding } = record.settings.branding;
    const isLogoKept = logoUri !== undefined && !values.has("remove-logo");
    const settings = {
      ...record.settings,
      branding: isLogoKept ? { ...branding, logoUri } : branding,
      images: Object.fromEntries(kept) as Organisation["settings"]["images"],
    };
    return { ...record, settings };
  },
  draftImages: (values: ReadonlyMap<string, string>): Partial<PageOrganisation> => {
    const given = Object.entries(readImages(values)).flatMap(([kind, image]) =>
      image !== null && typeof image === "object" ? [[imageUriNames[kind as ImageKind], dataUri(image)]] : [],
    );
    return Object.fromEntries(given);
  },
};

/** By the type that its content has, whatever the browser said. */
const dataUri = ({ type, bytes }: NewImage): string => `data:${type};base64,${bytes.toString("base64")}`;

/** Kinds without a file, and without a tick to remove it, are absent: they stay. */
type ImagesInput = Readonly<Partial<Record<ImageKind, NewImage | ImageFault | "none" | null>>>;

const present = ({ settings }: Organisation) => imagesOf(settings);

const images: EditForm<ConsoleDeps, Organisation, ImagesInput, ImageChanges> = {
  ...organisationRecord,
  current: "signInPage",
  hasFrame: true,
  version: present,
  toInput: () => ({}),
  readInput: ({ values }) => readImages(values),
  // A file that was replaced is gone.
  isUndoable: () => false,
  // The page shows the present images, and browsers do not resend a file.
  toDisplay: () => ({}),
  page: (view, { record }) =>
    imagesPage({ ...view, name: record.name, orgId: record.id, images: present(record) }),
  validate: (input, { messages }) => {
    const { faults: texts } = messages.console.settings;
    const faults = imageKinds.flatMap((kind) => {
      const value = input[kind];
      return typeof value === "string"
        ? [[kind, texts[value === "none" ? "image-none" : value]] as const]
        : [];
    });
    return faults.length > 0 ? { faults: Object.fromEntries(faults) } : { content: input as ImageChanges };
  },
  save: async (inside, content, { visit: { organisation }, acting }) => {
    await changeImages(inside, content, { ...acting, settings: {} });
    return consolePath(organisation, "/settings/branding?done=images");
  },
};

/** A form that names nothing at all is told so, at its first field. */
function readImages(values: ReadonlyMap<string, string>): ImagesInput {
  const read = (kind: ImageKind): NewImage | ImageFault | null | undefined => {
    if (values.has(`remove-${kind}`)) return null;
    const file = values.get(kind);
    return file === undefined ? undefined : readFile(kind, file);
  };
  const given = imageKinds.map((kind) => [kind, read(kind)] as const).filter(([, one]) => one !== undefined);
  return given.length === 0 ? { logo: "none" } : (Object.fromEntries(given) as ImagesInput);
}

/** @param file a `data:` URL of whatever type the browser said (http/file-form.ts) */
function readFile(kind: ImageKind, file: string): NewImage | ImageFault {
  const [, base64 = ""] = /^data:[^,]*;base64,(.*)$/s.exec(file) ?? [];
  return readImage(kind, Buffer.from(base64, "base64"));
}
