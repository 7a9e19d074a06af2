/** The editor of what users see: its head and tabs, and the sign-in page beside its forms, as it would be with what is typed. */
import type { ConsoleFrame, ConsoleView } from "../../../html/components/console-layout.ts";
import { tabs } from "../../../html/components/tabs.ts";
import { type Html, html, linkAddress } from "../../../html/html.ts";

type Editor = Pick<ConsoleFrame, "consoleUri" | "messages" | "organisation">;

export type EditorTab = "brand" | "methods" | "images" | "emails";

/** Everything that users get to see of the organisation is one editor: its head, the same on each tab. @param title the tab's */
export function editorHead(
  { messages, organisation }: Editor,
  title: string,
): Pick<ConsoleView, "title" | "heading" | "summary"> {
  const { settings: text } = messages.console;
  const summary = text.brandingSummary({ organisation: organisation.name });
  return { title, heading: text.experience, summary };
}

/** A tab for each form. @param summary of the current one */
export function editorTabs({ consoleUri, messages }: Editor, current: EditorTab, summary?: string): Html {
  const { frame, settings: text } = messages.console;
  const pages = {
    brand: [text.brandTab, "/settings/branding"],
    methods: [text.methods, "/settings/sign-in-methods"],
    images: [text.imagesTitle, "/settings/logo"],
    emails: [frame.pages.mailTemplates, "/mail-templates"],
  } as const;
  const bar = tabs({
    label: text.experience,
    links: Object.entries(pages).map(([id, [label, rest]]) => ({
      ...{ id: `editor-${id}`, label },
      uri: consoleUri(rest),
      isCurrent: id === current,
    })),
  });
  return summary === undefined
    ? bar
    : html`${bar}<p class="quiet tab-summary">${summary}</p>
`;
}

/**
 * @param form whose draft it shows; `rest` below the form's address is the preview's
 * @param tab what a browser shows above the page
 */
export function livePreview(
  { consoleUri, messages }: Editor,
  form: { id: string; rest: string },
  tab?: Html,
): Html {
  const { settings: text } = messages.console;
  const uri = linkAddress(consoleUri(`${form.rest}/preview`));
  return html`<section class="card editor-preview" id="live" aria-labelledby="live-title">
<div class="bar"><h2 id="live-title">${text.livePreview}</h2>
<span class="heading-actions"><button class="button" id="sign-in-live" type="submit" form="${form.id}" formaction="${uri}" formtarget="sign-in-preview">${text.livePreviewShow}</button></span></div>
<div class="preview-switches">${segments("preview-size", text.size, { desk: text.desk, phone: text.phone })}${segments("preview-scheme", text.scheme, { light: text.light, dark: text.dark }, "scripted")}</div>
<div class="preview-screen">${tab}<div class="preview-window"><noscript class="late-frame"><iframe class="mail-frame sign-in-frame" id="sign-in-preview" name="sign-in-preview" title="${text.livePreview}" src="${uri}" sandbox="allow-same-origin" referrerpolicy="no-referrer"></iframe></noscript></div></div>
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
