/** The sign-in page beside its forms, as it would be with what is typed; and the forms' tabs. */
import type { ConsoleFrame } from "../../../html/components/console-layout.ts";
import { tabs } from "../../../html/components/tabs.ts";
import { type Html, html, linkAddress } from "../../../html/html.ts";

type Editor = Pick<ConsoleFrame, "consoleUri" | "messages">;

export type EditorTab = "brand" | "methods" | "images";

/** Everything that users see before they are signed in. */
export function editorTabs({ consoleUri, messages }: Editor, current: EditorTab): Html {
  const { frame, settings: text } = messages.console;
  const pages = {
    brand: [text.brandTab, "/settings/branding"],
    methods: [text.methods, "/settings/sign-in-methods"],
    images: [text.imagesTitle, "/settings/logo"],
    emails: [frame.pages.mailTemplates, "/mail-templates"],
  } as const;
  return tabs({
    label: text.brandingTitle,
    links: Object.entries(pages).map(([id, [label, rest]]) => ({
      ...{ id: `editor-${id}`, label },
      uri: consoleUri(rest),
      isCurrent: id === current,
    })),
  });
}

/** @param form whose draft it shows; `rest` below the form's address is the preview's */
export function livePreview({ consoleUri, messages }: Editor, form: { id: string; rest: string }): Html {
  const { settings: text } = messages.console;
  const uri = linkAddress(consoleUri(`${form.rest}/preview`));
  return html`<section class="card editor-preview" id="live" aria-labelledby="live-title">
<div class="bar"><h2 id="live-title">${text.livePreview}</h2>
<span class="heading-actions"><button class="button" id="sign-in-live" type="submit" form="${form.id}" formaction="${uri}" formtarget="sign-in-preview">${text.livePreviewShow}</button></span></div>
<div class="preview-switches">${segments("preview-size", text.size, { desk: text.desk, phone: text.phone })}${segments("preview-scheme", text.scheme, { light: text.light, dark: text.dark }, "scripted")}</div>
<div class="preview-window"><iframe class="mail-frame sign-in-frame" id="sign-in-preview" name="sign-in-preview" title="${text.livePreview}" src="${uri}" sandbox="allow-same-origin" referrerpolicy="no-referrer"></iframe></div>
<p class="quiet">${text.livePreviewText}</p>
</section>`;
}

/** One of a few, seen at once: the stylesheet acts on it, or a script, which shows it in the place that is kept for it. The first is chosen. */
const segments = (
  name: string,
  legend: string,
  choices: Readonly<Record<string, string>>,
  of?: "scripted",
): Html =>
  html`<fieldset class="segments${of && " scripted"}"><legend class="visually-hidden">${legend}</legend>${Object.entries(
    choices,
  ).map(
    ([value, label], index) =>
      html`<label><input type="radio" name="${name}" id="${name}-${value}" value="${value}"${index === 0 && html` checked`}><span>${label}</span></label>`,
  )}</fieldset>`;
