/** /api/v1/organisations/{org}/images/{kind}: the images of the sign-in page, each a small file. */
import Type from "typebox";
import { type ImageKind, imageKinds } from "../../../core/organisations/image-kinds.ts";
import {
  changeImages,
  type ImageFault,
  imageRules,
  type NewImage,
  readImage,
} from "../../../core/organisations/images.ts";
import { invalid, notFound } from "../../../http/api/api-error.ts";
import { type ApiScope, apiRoute } from "../../../http/api/api-route.ts";
import { noParameters, strictObject } from "../../../http/api/schemas.ts";
import { type ApiCaller, actOf, apiAuthenticator, authenticatedFirst } from "../access.ts";
import { type ApiDeps, inTransaction } from "../frame/api-deps.ts";
import { scopeText } from "../frame/operation-texts.ts";

const scopes = ["signet:organisation:write"] as const;
/** The largest of them in base64. */
const MAX_BYTES = 768 * 1024;

const sentImage = strictObject(
  { content: Type.String({ description: "The file, base64" }) },
  { title: "ApiNewImage" },
);

const ruleTexts = imageKinds.map((kind) => {
  const { types, maxBytes } = imageRules[kind];
  return `\`${kind}\`: ${types.join(", ")}, at most ${maxBytes / 1024} KiB`;
});

const faultTexts: Readonly<Record<ImageFault, string>> = {
  "image-form": "is no image of the formats that it may have",
  "image-size": "is too large",
  "image-sides": "has too few or too many pixels",
};

const shared = { tag: "API v1: organisation", credential: "access-token", query: noParameters } as const;

export function apiImagesRoutes(api: ApiScope, deps: ApiDeps): void {
  apiRoute(api, {
    ...shared,
    ...{ method: "PUT", path: "/api/v1/organisations/:org/images/:kind", operationId: "apiSetImage" },
    ...{
      body: sentImage,
      bodyLimit: MAX_BYTES,
      example: { content: "iVBORw0KGgoAAAANSUhEUgAAACAAAAAgAAAAAAAAAAAAAA==" },
      errors: [404],
    },
    summary: "Set an image of the sign-in page, in place of the one before",
    description: `${scopeText(scopes)} ${ruleTexts.join("; ")}.`,
    answers: { 204: { description: "Set" } },
    ...authenticatedFirst(apiAuthenticator(deps, ...scopes)),
    handler: async ({ caller, params, body, within }) => {
      const kind = kindOf(params);
      const image = readImage(kind, Buffer.from(body.content, "base64"));
      if (typeof image === "string") throw invalid([{ path: "/content", message: faultTexts[image] }]);
      await inTransaction(deps, within, (inside) => setImage(inside, caller, { kind, image }));
      return { status: 204 };
    },
  });
  apiRoute(api, {
    ...shared,
    ...{ method: "DELETE", path: "/api/v1/organisations/:org/images/:kind", operationId: "apiRemoveImage" },
    summary: "Remove an image of the sign-in page",
    description: scopeText(scopes, "Repeatable."),
    answers: { 204: { description: "Removed" } },
    errors: [404],
    authenticator: apiAuthenticator(deps, ...scopes),
    handler: async ({ caller, params, within }) => {
      const kind = kindOf(params);
      await inTransaction(deps, within, (inside) => setImage(inside, caller, { kind, image: null }));
      return { status: 204 };
    },
  });
}

/** @throws ApiError 404 */
function kindOf({ kind: asked }: Readonly<Record<string, string>>): ImageKind {
  const kind = imageKinds.find((one) => one === asked);
  if (kind === undefined) throw notFound();
  return kind;
}

async function setImage(
  inside: ApiDeps,
  caller: ApiCaller,
  { kind, image }: { readonly kind: ImageKind; readonly image: NewImage | null },
): Promise<void> {
  if (!(await changeImages(inside, { [kind]: image }, { ...actOf(caller), settings: {} }))) throw notFound();
}
