/** What pages show to enrol an authenticator app: QR code, key, first code; and the recovery codes that come with it. */
import { type Html, html } from "../html.ts";
import type { Messages } from "../messages/messages.ts";
import { banner } from "./banner.ts";

export type AuthenticatorSetup = {
  qr: QrCode;
  /** The `otpauth://` URI in the QR code. */
  uri: string;
  /** The secret in base32, to type by hand. */
  key: string;
};

/** In groups of four. */
const grouped = (key: string): string => key.replace(/(.{4})(?=.)/g, "$1 ");

/** The QR code, a link for an app on this device, and the key to type by hand. */
export function authenticatorSetup(setup: AuthenticatorSetup, messages: Messages): Html {
  const text = messages.enrolment.totp;
  const link = setup.uri.startsWith("otpauth://totp/") ? setup.uri : undefined;
  return html`<div class="setup">
<p>${text.scan}</p>
${qrImage(setup.qr, text.image)}
${link !== undefined && html`<a href="${link}">${text.open}</a>`}
<details>
<summary>${text.byHand}</summary>
<p>${text.key}</p>
<pre id="totp-key">${grouped(setup.key)}</pre>
<button class="button" type="button" data-copy="totp-key" data-copied="${text.copied}" hidden>${text.copy}</button>
<p class="visually-hidden" id="copy-status" role="status"></p>
</details>
</div>
`;
}

export function authenticatorCode(messages: Messages, noticeId: string | undefined): Html {
  const wrong = noticeId !== undefined && html` autofocus aria-invalid="true" aria-describedby="${noticeId}"`;
  return html`<div class="field">
<label for="code">${messages.enrolment.totp.code}</label>
<input id="code" name="code" inputmode="numeric" autocomplete="one-time-code" maxlength="12" required${wrong}>
</div>
`;
}

/** A QR code as one path: an image without a file, a canvas or an inline style. */
export type QrCode = {
  /** Modules along one side, the quiet zone included. */
  size: number;
  path: string;
};

/** ISO/IEC 18004 §6.3.8. */
const QUIET = 4;

/** Loaded at the first code. `default`: a CommonJS module has nothing else in the bundle of `npm start`. */
export async function qrCode(text: string): Promise<QrCode> {
  const { create } = (await import("qrcode")).default;
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

/** In the page itself: the codes are in no request, so in no log either. */
const textFile = (lines: readonly string[]): string =>
  `data:text/plain;charset=utf-8,${encodeURIComponent(`${lines.join("\n")}\n`)}`;

/** Shown once. */
export function recoveryCodeList(codes: readonly string[], messages: Messages): Html {
  const text = messages.recoveryCodes;
  return html`<p>${text.explanation}</p>
${banner("hint", "codes-notice", text.once, text.onceText)}
<pre class="codes" id="recovery-codes" aria-label="${text.list}">${codes.join("\n")}</pre>
<div class="actions"><button class="button" type="button" data-copy="recovery-codes" data-copied="${text.copied}" hidden>${text.copy}</button>
<a class="button" id="codes-download" href="${textFile(codes)}" download="recovery-codes.txt">${text.download}</a>
<button class="button" id="codes-print" type="button" data-print hidden>${text.print}</button></div>
<p class="visually-hidden" id="copy-status" role="status"></p>
`;
}
