/** Response modes of the authorization endpoint (OAuth 2.0 Multiple Response Types §2.1, Form Post Response Mode §2). */
export type ResponseMode = "query" | "fragment" | "form_post";

/** The redirect with the parameters, in order. A query in the registered redirect URI stays as it is (RFC 6749 §3.1.2). */
export function buildRedirect(
  redirectUri: string,
  mode: "query" | "fragment",
  params: ReadonlyArray<readonly [string, string]>,
): string {
  const encoded = params.map(([name, value]) => `${encode(name)}=${encode(value)}`).join("&");
  return redirectUri + separator(redirectUri, mode) + encoded;
}

function separator(redirectUri: string, mode: "query" | "fragment"): string {
  if (mode === "fragment") return "#";
  if (!redirectUri.includes("?")) return "?";
  return redirectUri.endsWith("?") || redirectUri.endsWith("&") ? "" : "&";
}

/** A space becomes %20 and not +, which form decoders and plain percent decoders both read as a space. */
function encode(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}
