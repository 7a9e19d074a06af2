/**
 * A secret that is shown once: scripts/secret-reveal.js masks it on the screen, and offers it as a line for a file. Without
 * scripts it stands there to be selected.
 */
import { type Html, html } from "../html.ts";
import type { Messages } from "../messages/messages.ts";
import { copyButton } from "./copy-field.ts";
import { icon } from "./icons.ts";

export function secretReveal(view: {
  id: string;
  title: string;
  value: string;
  /** Of the file: `CLIENT_SECRET`. Without it nothing can be downloaded. */
  variable?: string | undefined;
  messages: Messages;
}): Html {
  const { id, title, value, variable } = view;
  const { secret } = view.messages.console.frame;
  return html`<div class="secret"><p class="secret-title" id="${id}-title">${title}</p>
<div class="secret-row"><pre tabindex="0" aria-labelledby="${id}-title"><code id="${id}" data-secret>${value}</code></pre>
<button class="copy" type="button" data-secret-show="${id}" aria-label="${secret.show}: ${title}" aria-pressed="false" hidden>${icon("eye")}${icon("eye-off")}</button>
${copyButton(id, secret, title)}</div>
${
  variable !== undefined &&
  html`<button class="button" type="button" id="${id}-download" data-secret-download="${id}" data-variable="${variable}" hidden>${icon("download")}${secret.download}</button>`
}</div>
`;
}
