/** Signet's own mark: the signet ring, in one colour, readable at 16 px. */
import { type Html, html, raw } from "../html.ts";

/** The bezel with a keyhole cut out (even-odd), and the ring below it. */
const BEZEL =
  "M8.75 1.5h6.5a2.25 2.25 0 0 1 2.25 2.25v2.5a2.25 2.25 0 0 1-2.25 2.25h-6.5A2.25 2.25 0 0 1 6.5 6.25v-2.5A2.25 2.25 0 0 1 8.75 1.5zM12 2.9a1.35 1.35 0 0 0-.65 2.53L11 7.2h2l-.35-1.77A1.35 1.35 0 0 0 12 2.9z";
const RING = { cx: 12, cy: 15, r: 6.75, width: 2.5 };

const shapes = (colour: string): string =>
  `<path fill='${colour}' fill-rule='evenodd' d='${BEZEL}'/><circle cx='${RING.cx}' cy='${RING.cy}' r='${RING.r}' fill='none' stroke='${colour}' stroke-width='${RING.width}'/>`;

/** Decoration: the name stands beside it. */
export const ringMark: Html = html`<svg class="ring" viewBox="0 0 24 24" aria-hidden="true">${raw(shapes("currentColor"))}</svg>`;

/** The same as an address, so that browsers ask for no /favicon.ico: on its own ground, as a tab may be light or dark. */
export const ringIcon: Html = raw(
  `data:image/svg+xml,${encodeURIComponent(
    `<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'><rect width='32' height='32' rx='7' fill='#0b6b5f'/><g transform='translate(4 4)'>${shapes("#fff")}</g></svg>`,
  )
    .replaceAll("%20", " ")
    .replaceAll("%3D", "=")
    .replaceAll("%3A", ":")
    .replaceAll("%2F", "/")}`,
);
