/**
 * Pieces of a page that a script keeps up to date (scripts/live.js). Screen readers announce a region reliably that stays and
 * whose text changes; a piece is replaced as a whole: so what is new in it is said in a place of its own.
 */
import { type Html, html, linkAddress } from "../html.ts";

/** Attributes of a live part. @param says its state, one line for each item: changed lines are read out */
export const livePiece = (uri: string, says: readonly string[]): Html =>
  html` data-live="${linkAddress(uri)}" data-says="${says.join("\n")}"`;

/** Where changes are read out: once on a page, outside its live parts. */
export const liveStatus: Html = html`<p class="visually-hidden" id="live-status" role="status"></p>
`;
