/** The few pages that the filter shows itself: a refusal and the way on. No script, nothing from elsewhere, small enough to read. */
import { base64url } from "jose";

/** A page that a filter shows itself, as `showPage` gets it. */
export interface FrontPage {
  /** For an application that shows pages of its own, and for tests. */
  readonly kind: /** The person said no at the provider, or may not use the application. */
    | "access_denied"
    /** The answer belongs to no sign-in of this browser, or to one too old. */
    | "sign_in_again"
    /** A form was sent without a session: it was not kept. */
    | "not_saved"
    /** For a frame, which cannot show the sign-in. */
    | "signed_out"
    /** Asks before signing out. */
    | "confirm_logout"
    /** The provider cannot be reached. */
    | "try_later"
    /** The provider, or what it answered, is not as it should be. */
    | "failed";
  readonly status: number;
  readonly title: string;
  readonly text: string;
  /** The one way on. `post` is a form's button, the other one a link. */
  readonly action?: { readonly label: string; readonly address: string; readonly method: "get" | "post" };
}

const STYLE =
  ":root{color-scheme:light dark}body{font:1.0625rem/1.5 system-ui,sans-serif;max-width:34rem;margin:12vh auto;padding:0 1.25rem}" +
  "h1{font-size:1.5rem;line-height:1.25}a,button{display:inline-block;font:inherit;padding:.5rem 1rem;border:1px solid currentColor;" +
  "border-radius:.375rem;background:none;color:inherit;text-decoration:none;cursor:pointer}" +
  "a:focus-visible,button:focus-visible{outline:3px solid currentColor;outline-offset:3px}";

/**
 * @param page texts of our own, or addresses; every one is escaped all the same
 * @param headers to add, e.g. Retry-After
 */
export async function showFrontPage(
  page: FrontPage,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  const { action } = page;
  const styleHash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(STYLE));
  const policy = [
    "default-src 'none'",
    `style-src 'sha256-${base64Of(new Uint8Array(styleHash))}'`,
    // Browsers apply it to the redirects that a form leads to as well, and signing out goes on at the provider.
    `form-action ${action?.method === "post" ? "'self' https: http://localhost:* http://127.0.0.1:*" : "'none'"}`,
    "frame-ancestors 'self'",
    "base-uri 'none'",
  ];
  return new Response(markup(page), {
    status: page.status,
    headers: {
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": policy.join("; "),
      "cache-control": "no-store",
      // With `no-referrer` the form would be sent with the origin `null`.
      "referrer-policy": "same-origin",
      "x-content-type-options": "nosniff",
      ...headers,
    },
  });
}

function markup({ title, text, action }: FrontPage): string {
  const head = `<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escaped(title)}</title><style>${STYLE}</style>`;
  const body = `<main><h1>${escaped(title)}</h1><p>${escaped(text)}</p>${action ? actionMarkup(action) : ""}</main>`;
  return `<!doctype html><html lang="en"><head>${head}</head><body>${body}</body></html>`;
}

/** `_top`: out of a frame, where there is one. */
function actionMarkup({ label, address, method }: NonNullable<FrontPage["action"]>): string {
  return method === "get"
    ? `<p><a href="${escaped(address)}" target="_top" id="signet-action">${escaped(label)}</a></p>`
    : `<form method="post" action="${escaped(address)}" target="_top"><button id="signet-action">${escaped(label)}</button></form>`;
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

const base64Of = (bytes: Uint8Array): string =>
  base64url.encode(bytes).replaceAll("-", "+").replaceAll("_", "/").padEnd(44, "=");
