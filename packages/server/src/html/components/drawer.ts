/** Details beside a list, over the page's end: a popover, which needs no script. */
import { type Content, type Html, html } from "../html.ts";
import { icon } from "./icons.ts";

/** A button with `opens: view.id` opens it. */
/** A drawer for pages that links with `data-drawer` lead to (scripts/drawer.js); what is in them is marked so. */
export const pageDrawer = (view: { id: string; close: string; open: string }): Html =>
  drawer({
    ...view,
    title: "",
    body: "",
    foot: html`<a class="button" id="${view.id}-open" href="" data-drawer-open>${view.open}</a>`,
  });

/** What such a drawer takes from its page. */
export const drawerContent = (content: Content): Html => html`<div class="cards" data-drawer-content>
${content}</div>
`;

export function drawer(view: {
  id: string;
  title: Content;
  close: string;
  body: Content;
  foot?: Content;
}): Html {
  const { id, title, body, foot } = view;
  return html`<aside class="drawer" id="${id}" popover aria-labelledby="${id}-title">
<div class="drawer-top"><h2 id="${id}-title">${title}</h2>
<button class="icon-button" type="button" popovertarget="${id}" popovertargetaction="hide" aria-label="${view.close}">${icon("close")}</button></div>
<div class="drawer-body">${body}</div>
${foot !== undefined && html`<div class="actions drawer-foot">${foot}</div>`}</aside>
`;
}
