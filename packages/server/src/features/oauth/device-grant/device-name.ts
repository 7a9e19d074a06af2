/** What a device calls itself, in short. The header is a stranger's text: a name that we know, or one word of it. */
import { browserName } from "../../../core/known-browsers/browser-name.ts";

/** With a version, or alone: the first word of a sentence is no name. */
const product = /^[A-Za-z][A-Za-z0-9_.-]{0,29}(?:\/v?[0-9][0-9A-Za-z.-]{0,14}(?=$|[ ;(])|$)/;

/** @returns e.g. `Firefox, Windows` or `curl/8.5.0`; undefined when it names nothing that could be shown */
export function deviceName(userAgent: string): string | undefined {
  return browserName(userAgent) ?? product.exec(userAgent)?.[0];
}
