/** The form of the images: what is there now, a file instead, or none. */
import {
  type ImageKind,
  type ImageRef,
  imageKinds,
  imagePath,
} from "../../../core/organisations/image-kinds.ts";
import { imageRules } from "../../../core/organisations/images.ts";
import { consoleLayout } from "../../../html/components/console-layout.ts";
import { formNotice } from "../../../html/components/form-page.ts";
import { type FormView, fieldState } from "../../../html/components/form-state.ts";
import { recordForm } from "../../../html/components/record-form.ts";
import { ringIcon } from "../../../html/components/ring-mark.ts";
import { type Html, html } from "../../../html/html.ts";
import { draftPreviewScript, framesScript } from "../../../html/scripts.ts";
import { editorHead, editorTabs, livePreview } from "./live-preview.page.ts";

const FORM_ID = "logo-form";

export type ImagesView = FormView<unknown> & {
  name: string;
  orgId: string;
  images: Readonly<Partial<Record<ImageKind, ImageRef>>>;
};

export function imagesPage(view: ImagesView): Html {
  const { frame, settings: text } = view.messages.console;
  const backUri = view.consoleUri("/settings/branding");
  const labels = Object.fromEntries(imageKinds.map((kind) => [kind, text.images[kind].label]));
  return consoleLayout({
    ...view,
    ...editorHead(view, text.imagesTitle),
    notice: formNotice({ ...view, labels }),
    scripts: [framesScript.path, draftPreviewScript.path],
    body: html`${editorTabs(view, "images", text.imagesSummary)}<div class="editor"><section class="card" aria-label="${text.imagesTitle}">
${recordForm({
  ...view,
  id: FORM_ID,
  isDraft: true,
  hasFiles: true,
  fields: imageKinds.map((kind) => imageField(view, kind)),
  submit: { id: "logo-save", label: frame.form.save },
  cancelUri: backUri,
})}</section>
${livePreview(view, { id: FORM_ID, rest: "/settings/logo" }, browserTab(view))}</div>
`,
  });
}

/** A favicon is seen nowhere but in a browser's tab. */
function browserTab(view: ImagesView): Html {
  const { favicon } = view.images;
  const uri = favicon ? imagePath(view.orgId, favicon) : ringIcon;
  return html`<p class="browser-tab" aria-hidden="true"><img src="${uri}" alt="" width="16" height="16" data-preview-of="favicon" data-otherwise="${ringIcon}"><bdi>${view.name}</bdi></p>
`;
}

function imageField(view: ImagesView, kind: ImageKind): Html {
  const { messages } = view;
  const { settings: text } = messages.console;
  const { label, hint } = text.images[kind];
  const { fault, hasFocus } = fieldState(view.state, kind);
  const { types, maxBytes, sides } = imageRules[kind];
  const described = fault === undefined ? `${kind}-hint` : `${kind}-hint ${kind}-fault`;
  const bounds = text.imageBounds({ count: maxBytes / 1024, min: sides.least, max: sides.most });
  return html`<div class="field image-field"><label for="${kind}">${label}</label>
<div class="image-controls">${present(view, kind)}<input id="${kind}" name="${kind}" type="file" accept="${types.join(",")}" aria-describedby="${described}"${fault !== undefined && html` aria-invalid="true"`}${hasFocus && html` autofocus`}></div>
<p class="field-hint" id="${kind}-hint">${hint} ${bounds}</p>
${fault !== undefined && html`<p class="failed" id="${kind}-fault">${fault}</p>`}</div>
`;
}

/** Of its own size at most, on a ground that it can be seen on. Without a stored one, a place for what is chosen. */
function present({ orgId, images, messages }: ImagesView, kind: ImageKind): Html {
  const image = images[kind];
  const look = `image-now ${kind}-now${kind === "darkLogo" ? " on-dark" : ""}`;
  if (!image)
    return html`<p class="${look}" hidden><img alt="" data-preview-of="${kind}"></p>
`;
  const { settings: text } = messages.console;
  const height = Math.min(kind === "panel" ? 120 : 48, image.height);
  const width = Math.round((image.width * height) / image.height);
  return html`<p class="${look}"><img src="${imagePath(orgId, image)}" alt="" width="${width}" height="${height}" data-preview-of="${kind}"></p>
<div class="check"><label><input type="checkbox" id="remove-${kind}" name="remove-${kind}" value="on"> ${text.imageRemove}</label></div>
`;
}
