/** How pages show an organisation, an application and the signed-in user: a logo, or initials in a hue of their own. */
import { type Content, type Html, html, linkAddress } from "../html.ts";

/** `data:` URIs and paths of this server: no third party is asked. */
const OWN_IMAGE = /^(data:image\/(png|jpeg|webp|gif|svg\+xml)[;,]|\/(?![/\\]))/i;

export type AvatarLook = {
  /** 24, 32 or 48 px. */
  size?: "small" | "large" | undefined;
  /** Users are round; organisations and applications have corners. */
  isRound?: boolean | undefined;
  /** Instead, where the reader prefers dark. */
  darkUri?: string | undefined;
};

const SIZES = { small: 24, medium: 32, large: 48 } as const;

const classesOf = ({ size, isRound }: AvatarLook): string =>
  `mark${size === undefined ? "" : ` ${size}`}${isRound ? " round" : ""}`;

/** A logo beside its name, so without alternative text; nothing for a third party's URI. */
export function logo(address: string | undefined, look: AvatarLook = {}): Html | undefined {
  if (address === undefined || !OWN_IMAGE.test(address)) return undefined;
  const size = SIZES[look.size ?? "medium"];
  const image = html`<img class="${classesOf(look)}" src="${address}" alt="" width="${size}" height="${size}">`;
  const { darkUri } = look;
  if (darkUri === undefined || !OWN_IMAGE.test(darkUri)) return image;
  return html`<picture><source srcset="${darkUri}" media="(prefers-color-scheme: dark)">${image}</picture>`;
}

/** Expensive to create: with the first name. */
let segmenter: Intl.Segmenter | undefined;

/** First letters as people see them (an emoji or an accented letter stays whole), of at most two words. */
function initials(name: string): string {
  const [first, second] = name.trim().split(/\s+/);
  segmenter ??= new Intl.Segmenter();
  const letters = segmenter;
  return [first, name.includes("@") ? undefined : second]
    .map((word) => [...letters.segment(word ?? "")][0]?.segment ?? "")
    .join("")
    .toLocaleUpperCase();
}

/** One of the eight hues of styles/avatar.css: the same for a name everywhere (FNV-1a). */
export function hueOf(name: string): number {
  let hash = 0x811c9dc5;
  for (const letter of name.trim().normalize("NFC")) {
    hash = Math.imul(hash ^ (letter.codePointAt(0) ?? 0), 0x01000193);
  }
  // The lowest bits alone hardly differ between short names.
  return ((hash ^ (hash >>> 15)) >>> 0) % 8;
}

/**
 * What stands for an organisation, an application or a user beside its name: its logo, or its initials.
 * Decoration only: the name is always written next to it, so assistive technology skips it.
 */
export function avatar(name: string, logoUri?: string, look: AvatarLook = {}): Html {
  return (
    logo(logoUri, look) ??
    html`<span class="${classesOf(look)} hue-${hueOf(name)}" aria-hidden="true">${initials(name)}</span>`
  );
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
${avatar(email, undefined, { isRound: true })}
<div class="person-text"><span><span class="visually-hidden">${label} </span><bdi>${email}</bdi></span>
${below}</div>
</div>
`;
}
