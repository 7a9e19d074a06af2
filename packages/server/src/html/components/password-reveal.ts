/** The button in a password field that shows what is typed (scripts/reveal.js); in a `.with-reveal` beside its input. */
import { type Html, html } from "../html.ts";
import { icon } from "./icons.ts";

/** @param fieldId of the input */
export const revealButton = (fieldId: string, label: string): Html =>
  html`<button class="reveal" type="button" data-reveal="${fieldId}" aria-label="${label}" aria-pressed="false" hidden>${icon("eye")}${icon("eye-off")}</button>`;
