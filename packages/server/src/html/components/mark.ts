/** How pages show an organisation, an application and the signed-in user. */
import { type Content, type Html, html, linkAddress } from "../html.ts";

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

/**
 * Under a heading that names an application: its logo and where it lives. The link's text is the host of its address
 * and nothing that the application chose, so that it cannot claim to be someone else's.
 */
export function applicationHome(application: {
  homepageUri?: string | undefined;
  logoUri?: string | undefined;
}): Html | undefined {
  const image = logo(application.logoUri);
  const address = linkAddress(application.homepageUri);
  const host = address !== undefined && URL.canParse(address) ? new URL(address).host : undefined;
  if (image === undefined && host === undefined) return undefined;
  return html`<p class="app">${image}${host !== undefined && html`<a href="${address}">${host}</a>`}</p>
`;
}

/** The signed-in user, with actions below. */
export function person(label: string, email: string, below?: Content): Html {
  return html`<div class="person">
${mark(email)}
<div class="person-text"><span><span class="visually-hidden">${label} </span><bdi>${email}</bdi></span>
${below}</div>
</div>
`;
}
