/** A card that waits for something and says so when it is there: the first sign-in, a device, an agent (scripts/live.js). */
import { type Content, type Html, html } from "../html.ts";
import { livePiece } from "./live.ts";

export function livePanel(view: {
  id: string;
  /** Answers with this panel again: page-kit/live-piece.ts. Left out where only the page itself goes on. */
  uri?: string;
  title: string;
  state: "waiting" | "done" | "failed";
  text?: Content;
  body?: Content;
}): Html {
  const { id, title, state, text, body } = view;
  return html`<section class="card live-panel ${state}" id="${id}" aria-labelledby="${id}-title"${view.uri !== undefined && livePiece(view.uri, [title])}>
<h2 id="${id}-title"><span class="live-dot"></span>${title}</h2>
${text !== undefined && html`<p class="quiet">${text}</p>`}
${body}</section>
`;
}
