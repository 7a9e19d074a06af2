/** A link to an explanation in the documentation that this service serves. */
import { type Html, html, linkAddress } from "../html.ts";
import { icon } from "./icons.ts";

export const helpLink = (uri: string, label: string): Html =>
  html`<a class="help-link" href="${linkAddress(uri)}">${icon("help")}${label}</a>`;
