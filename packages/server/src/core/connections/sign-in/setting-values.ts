/** Addresses and texts in the settings of a connection for signing in. */
import { addressRules } from "../../outbound/address-rules.ts";

const { isLoopback } = addressRules([]);

/** https, or http on loopback; without credentials and fragment. Where its host leads is checked at each call (core/outbound). */
export function isAddress(text: string): boolean {
  const url = URL.parse(text);
  if (!url || text.length > 2_048 || /[#\s\\]/.test(text) || url.username || url.password) return false;
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
  return (
    url.protocol === "https:" || (url.protocol === "http:" && (host === "localhost" || isLoopback(host)))
  );
}

export const isPlain = (text: string, max: number): boolean =>
  text.trim() !== "" && text.length <= max && !/[\p{Cc}\p{Cf}]/u.test(text);
