/** The handbook of the console: contents beside the chapters. */
import { type Html, html } from "../../html/html.ts";
import { contentLayout, type PageFrame } from "../../html/layout.ts";

export type Chapter = { title: string; body: Html };

/** @param view.chapters by the id that links name */
export function handbookPage(view: PageFrame & { chapters: Readonly<Record<string, Chapter>> }): Html {
  const chapters = Object.entries(view.chapters);
  return contentLayout({
    ...view,
    title: "Console handbook",
    body: html`<div class="intro"><a class="skip" href="#${chapters[0]?.[0]}">Skip table of contents</a>
<h1>Console handbook</h1>
<p>What each page of the console is for. Guides, the SDK and operation are in the <a href="/docs/">documentation</a>; programs use the <a href="/docs">API reference</a>.</p></div>
<div class="reference">
<nav class="contents" aria-label="Contents">
<ul>
${chapters.map(([id, { title }]) => html`<li><a href="#${id}">${title}</a></li>\n`)}</ul></nav>
<div class="chapters handbook">
${chapters.map(([id, { title, body }]) => html`<section id="${id}"><h2>${title}</h2>\n${body}</section>\n`)}</div>
</div>`,
  });
}
