import { type Html, html } from "../html.ts";

/** A QR code as one path: an image without a file, a canvas or an inline style. */
export type QrCode = {
  /** Modules along one side, the quiet zone included. */
  size: number;
  path: string;
};

/** ISO/IEC 18004 §6.3.8. */
const QUIET = 4;

/** Loaded at the first code. */
export async function qrCode(text: string): Promise<QrCode> {
  const { create } = await import("qrcode");
  const { size, data } = create(text, { errorCorrectionLevel: "M" }).modules;
  let path = "";
  for (let y = 0; y < size; y += 1) {
    for (let x = 0; x < size; x += 1) {
      let width = 0;
      while (x + width < size && data[y * size + x + width]) width += 1;
      if (width > 0) path += `M${x + QUIET} ${y + QUIET}h${width}v1h-${width}z`;
      x += width;
    }
  }
  return { size: size + 2 * QUIET, path };
}

/** @param label for screen readers */
export function qrImage({ size, path }: QrCode, label: string): Html {
  return html`<svg class="qr" role="img" aria-label="${label}" viewBox="0 0 ${size} ${size}"><path d="${path}"/></svg>`;
}
