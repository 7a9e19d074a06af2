import { type Html, html } from "../html.ts";

/** `data:` URIs and paths of this server: no third party is asked. */
const OWN_IMAGE = /^(data:image\/(png|jpeg|webp|gif|svg\+xml)[;,]|\/(?![/\\]))/i;

/** A logo beside its name, so without alternative text; nothing for a third party's URI. */
export function logo(address: string | undefined): Html | undefined {
  if (address === undefined || !OWN_IMAGE.test(address)) return undefined;
  return html`<img class="mark" src="${address}" alt="" width="32" height="32">`;
}

/** Expensive to create. */
const segmenter = new Intl.Segmenter();

/** The first letter or digit of a name, as people see it (an emoji or an accented letter stays whole). */
function initial(name: string): string {
  const [first] = segmenter.segment(name.trim());
  return (first?.segment ?? "").toLocaleUpperCase();
}

/**
 * The small square that stands for an organisation or a person beside its name: its logo, or its initial.
 * Decoration only: the name is always written next to it, so assistive technology skips it.
 */
export function mark(name: string, logoUri?: string): Html {
  return logo(logoUri) ?? html`<span class="mark" aria-hidden="true">${initial(name)}</span>`;
}
