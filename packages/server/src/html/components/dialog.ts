/**
 * A question of another page in a dialog of this one: a link with `data-dialog` (buttonLink and rowLink with `isQuestion`) leads to a
 * page whose question is marked so; scripts/dialog.js shows it here. Without scripts, and whenever that page is another (a sign-in),
 * the link leads there.
 */
import { type Content, type Html, html } from "../html.ts";

/** What a dialog takes from its page. */
export const dialogContent = (content: Content, isDangerous: boolean): Html =>
  html`<section class="card confirm${isDangerous && " danger"}" data-dialog-content>
${content}</section>
`;
