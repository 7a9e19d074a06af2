/** The filter's few built-in pages: a message and the way on. No scripts, nothing loaded. */

/** A built-in page, as passed to `showPage`. */
export interface FrontPage {
  /** For applications with their own pages, and for tests. */
  readonly kind: /** The user declined at the provider, or may not use the application. */
    | "access_denied"
    /** The response belongs to no sign-in of this browser, or to one that has expired. */
    | "sign_in_again"
    /** A form was submitted without a session and was not saved. */
    | "not_saved"
    /** In a frame, where the sign-in page can't be shown. */
    | "signed_out"
    /** Asks before signing out. */
    | "confirm_logout"
    /** The provider can't be reached. */
    | "try_later"
    /** The provider's response was invalid. */
    | "failed";
  readonly status: number;
  readonly title: string;
  readonly text: string;
  /** The way on: `post` is a form's button, `get` a link. */
  /** Of the error, as `onError` has it: what a user reports. */
  readonly reference?: string;
  readonly action?: { readonly label: string; readonly address: string; readonly method: "get" | "post" };
}

const pages: Readonly<Record<FrontPage["kind"], Omit<FrontPage, "kind" | "action">>> = {
  access_denied: {
    status: 403,
    title: "Access denied",
    text: "You are not signed in to this application because access was not granted. Try again, or close this page.",
  },
  sign_in_again: {
    status: 400,
    title: "This sign-in has expired",
    text: "It took too long, was started in another browser, or has already been used. Please start again.",
  },
  not_saved: {
    status: 401,
    title: "You are signed out",
    text: "Your changes were not saved. Sign in, then submit the form again.",
  },
  signed_out: { status: 401, title: "You are signed out", text: "Sign in to see this page." },
  confirm_logout: { status: 200, title: "Sign out?", text: "You will be signed out of this application." },
  try_later: {
    status: 503,
    title: "Sign-in is temporarily unavailable",
    text: "The sign-in service is not responding. Please try again in a moment.",
  },
  failed: {
    status: 502,
    title: "Sign-in failed",
    text: "The sign-in could not be completed securely. Please try again. If the problem persists, contact the operator of this application.",
  },
};

export function builtInPage(
  kind: FrontPage["kind"],
  action: FrontPage["action"],
  status?: number,
): FrontPage {
  const page = pages[kind];
  return { kind, ...page, ...(status === undefined ? {} : { status }), ...(action ? { action } : {}) };
}

const STYLE =
  ":root{color-scheme:light dark}body{font:1.0625rem/1.5 system-ui,sans-serif;max-width:34rem;margin:12vh auto;padding:0 1.25rem}" +
  "h1{font-size:1.5rem;line-height:1.25}a,button{display:inline-block;font:inherit;padding:.5rem 1rem;border:1px solid currentColor;" +
  "border-radius:.375rem;background:none;color:inherit;text-decoration:none;cursor:pointer}" +
  "a:focus-visible,button:focus-visible{outline:3px solid currentColor;outline-offset:3px}";

export async function renderPage(page: FrontPage): Promise<Response> {
  const styleHash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(STYLE));
  const isForm = page.action?.method === "post";
  const policy = [
    "default-src 'none'",
    `style-src 'sha256-${btoa(String.fromCharCode(...new Uint8Array(styleHash)))}'`,
    // Browsers apply it to redirects after a form as well, and signing out continues at the provider.
    `form-action ${isForm ? "'self' https: http://localhost:* http://127.0.0.1:*" : "'none'"}`,
    "frame-ancestors 'self'",
    "base-uri 'none'",
  ];
  return new Response(toHtml(page), {
    status: page.status,
    headers: {
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": policy.join("; "),
      "cache-control": "no-store",
      // With `no-referrer` the form would be sent with the origin `null`.
      "referrer-policy": "same-origin",
      "x-content-type-options": "nosniff",
    },
  });
}

function toHtml({ title, text, action, reference }: FrontPage): string {
  const head = `<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escapeHtml(title)}</title><style>${STYLE}</style>`;
  const body = `<main><h1>${escapeHtml(title)}</h1><p>${escapeHtml(text)}</p>${action ? actionHtml(action) : ""}${referenceHtml(reference)}</main>`;
  return `<!doctype html><html lang="en"><head>${head}</head><body>${body}</body></html>`;
}

const referenceHtml = (reference: string | undefined): string =>
  reference === undefined ? "" : `<p><small>Reference: ${escapeHtml(reference)}</small></p>`;

/** `_top` leaves a frame. */
function actionHtml({ label, address, method }: NonNullable<FrontPage["action"]>): string {
  return method === "get"
    ? `<p><a href="${escapeHtml(address)}" target="_top" id="signet-action">${escapeHtml(label)}</a></p>`
    : `<form method="post" action="${escapeHtml(address)}" target="_top"><button id="signet-action">${escapeHtml(label)}</button></form>`;
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
