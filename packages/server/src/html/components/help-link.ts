/** A link to an explanation in the documentation that this service serves. */
import { type Html, html, linkAddress } from "../html.ts";
import { icon } from "./icons.ts";

/** In another tab: what is typed stays. English, whatever the page's language is. */
export const helpLink = (id: string, uri: string, label: string): Html =>
  html`<a class="help-link" id="${id}" href="${linkAddress(uri)}" hreflang="en" target="_blank" rel="noopener">${icon("help")}<span>${label}</span></a>`;
