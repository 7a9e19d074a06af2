/** What a new record can be, each with what it is for. The whole card is the link's target. */
import { type Content, type Html, html, linkAddress } from "../html.ts";
import { type IconName, icon } from "./icons.ts";

export const choiceCard = (view: {
  id: string;
  uri: string;
  title: string;
  text: string;
  mark: IconName;
}): Html =>
  html`<li class="choice"><span class="gallery-mark">${icon(view.mark)}</span><a id="${view.id}" href="${linkAddress(view.uri)}">${view.title}</a><p class="quiet">${view.text}</p></li>
`;

export const choiceList = (cards: Content): Html => html`<ul class="choices">
${cards}</ul>
`;
