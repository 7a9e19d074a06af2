/** Links of an organisation that its sign-in pages show: help, privacy, terms. */
import { isEmail } from "../users/user.ts";

export const brandingLinks = ["helpUri", "privacyUri", "termsUri"] as const;
export type BrandingLink = (typeof brandingLinks)[number];

const MAX_LINK = 500;

/** An https URL; help may also be `mailto:` and an address, without header fields (RFC 6068 §2). */
export function isBrandingLink(name: BrandingLink, uri: string): boolean {
  if (uri.length > MAX_LINK || /[\s\p{Cc}\p{Cf}]/u.test(uri)) return false;
  if (name === "helpUri" && uri.startsWith("mailto:"))
    return isEmail(uri.slice("mailto:".length)) && !/[?&%]/.test(uri);
  const url = URL.parse(uri);
  return url?.protocol === "https:" && url.username === "" && url.password === "";
}
