/** The form of the images: what is there now, a file instead, or none. */
import {
  type ImageKind,
  type ImageRef,
  imageKinds,
  imagePath,
} from "../../../core/organisations/image-kinds.ts";
import { imageRules } from "../../../core/organisations/images.ts";
import { consoleLayout } from "../../../html/components/console-layout.ts";
import { hiddenFields } from "../../../html/components/form.ts";
import { formNotice } from "../../../html/components/form-page.ts";
import { type FormView, fieldState } from "../../../html/components/form-state.ts";
import { type Html, html, linkAddress } from "../../../html/html.ts";
import { editorTabs } from "./live-preview.page.ts";

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
    title: text.imagesTitle,
    summary: text.imagesSummary,
    notice: formNotice({ ...view, labels }),
    body: html`${editorTabs(view, "images")}<section class="card" aria-label="${text.imagesTitle}">
<form class="form" id="logo-form" method="post" action="${linkAddress(view.action)}" enctype="multipart/form-data" novalidate>
${hiddenFields([
  { name: "csrf", value: view.csrf },
  { name: "seen", value: view.version ?? "" },
])}${imageKinds.map((kind) => imageField(view, kind))}<div class="actions"><button class="button primary" id="logo-save" type="submit">${frame.form.save}</button>
<a class="button" id="logo-cancel" href="${linkAddress(backUri)}">${frame.form.cancel}</a></div>
</form></section>
`,
  });
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
${present(view, kind)}<input id="${kind}" name="${kind}" type="file" accept="${types.join(",")}" aria-describedby="${described}"${fault !== undefined && html` aria-invalid="true"`}${hasFocus && html` autofocus`}>
<p class="field-hint" id="${kind}-hint">${hint} ${bounds}</p>
${fault !== undefined && html`<p class="failed" id="${kind}-fault">${fault}</p>`}</div>
`;
}

/** Of its own size at most, on a ground that it can be seen on. */
function present({ orgId, images, messages }: ImagesView, kind: ImageKind): Html | undefined {
  const image = images[kind];
  if (!image) return undefined;
  const { settings: text } = messages.console;
  const height = Math.min(kind === "panel" ? 120 : 48, image.height);
  const width = Math.round((image.width * height) / image.height);
  return html`<p class="image-now${kind === "darkLogo" && " on-dark"}"><img src="${imagePath(orgId, image)}" alt="" width="${width}" height="${height}"></p>
<div class="check"><label><input type="checkbox" id="remove-${kind}" name="remove-${kind}" value="on"> ${text.imageRemove}</label></div>
`;
}
