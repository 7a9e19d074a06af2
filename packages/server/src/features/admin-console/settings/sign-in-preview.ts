/** A picture of the sign-in page, without anything to type into or press. */
import { type ContrastRatios, DEFAULT_ACCENT, measureContrast } from "../../../html/accent.ts";
import { avatar } from "../../../html/components/avatar.ts";
import { badge } from "../../../html/components/badge.ts";
import { facts } from "../../../html/components/card.ts";
import { type Html, html } from "../../../html/html.ts";
import type { Messages } from "../../../html/messages/messages.ts";

export type PreviewView = {
  name: string;
  /** `#rrggbb`, the same as the page's `previewAccent`. */
  accentColor: string | undefined;
  logoUri: string | undefined;
  messages: Messages;
};

export const accentOrDefault = (accentColor: string | undefined): string => accentColor ?? DEFAULT_ACCENT;

/** Light and dark side by side, with their contrast ratios. */
export function signInPreview(view: PreviewView): Html {
  const { settings: text } = view.messages.console;
  const measured = measureContrast(accentOrDefault(view.accentColor));
  return html`<div class="previews">
${onePreview(view, "light", measured.light)}${onePreview(view, "dark", measured.dark)}</div>
<p class="quiet preview-note">${text.contrastText}</p>
`;
}

function onePreview(view: PreviewView, scheme: "light" | "dark", measured: ContrastRatios): Html {
  const { settings: text } = view.messages.console;
  const { name, logoUri } = view;
  return html`<figure class="preview-side"><div class="preview preview-${scheme}" aria-hidden="true">
<p class="preview-brand">${avatar(name, logoUri)}<bdi>${name}</bdi></p>
<div class="preview-card"><p class="preview-heading">${text.previewSignIn}</p>
<p class="preview-label">${text.previewEmail}</p><p class="preview-input"></p>
<p class="preview-label">${text.previewPassword}</p><p class="preview-input"></p>
<p class="preview-button">${text.previewContinue}</p>
<p class="preview-link">${text.previewForgot}</p></div></div>
<figcaption><p class="item-name">${text[scheme]} ${badge("good", text.readable)}</p>
${facts([
  { label: text.buttonText, content: ratio(measured.buttonText, view) },
  { label: text.links, content: ratio(measured.links, view) },
  { label: text.edges, content: ratio(measured.edges, view) },
])}</figcaption></figure>
`;
}

/** Rounded down, so that nothing looks better than it is. */
const ratio = (value: number, { messages }: PreviewView): string =>
  messages.console.settings.ratio({
    value: new Intl.NumberFormat(messages.locale, { maximumFractionDigits: 1 }).format(
      Math.floor(value * 10) / 10,
    ),
  });
