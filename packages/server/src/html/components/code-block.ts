/** Lines of a file or a shell, to copy; long ones can be wrapped (scripts/code-block.js). */
import { type Html, html } from "../html.ts";
import { type CopyTexts, copyButton } from "./copy-field.ts";
import { icon } from "./icons.ts";

export function codeBlock(
  view: CopyTexts & {
    id: string;
    title: string;
    lines: string;
    /** The name of the button that wraps long lines; none without. */
    wrap?: string | undefined;
    /** A button that saves the lines as a file. */
    saveAs?: { label: string; file: string } | undefined;
  },
): Html {
  // One long line is a command: it is read whole, also on a phone.
  const isCommand = !view.lines.includes("\n");
  return html`<figure class="snippet"><figcaption class="bar"><bdi>${view.title}</bdi>
<span class="snippet-buttons">${
    view.wrap !== undefined &&
    !isCommand &&
    html`<button class="copy" type="button" data-wrap="${view.id}" aria-label="${view.wrap}: ${view.title}" aria-pressed="false" hidden>${icon("wrap")}</button>`
  }${
    view.saveAs !== undefined &&
    html`<button class="copy" type="button" data-download="${view.id}" data-file="${view.saveAs.file}" aria-label="${view.saveAs.label}: ${view.saveAs.file}" hidden>${icon("download")}</button>`
  }${copyButton(view.id, view, view.title)}</span></figcaption>
<pre tabindex="0"${isCommand && html` class="wrapped"`} aria-label="${view.title}"><code id="${view.id}">${view.lines}</code></pre></figure>
`;
}
