/**
 * Return URLs of federation logins (wire-contract.md §4): at or below a registered one. A prefix covers more than one URL, so
 * whatever two parsers could read differently is rejected: browser, server and this comparison must agree.
 */
import { decodeFormComponent } from "./form.ts";

const MAX_LENGTH = 2048;
const loopbackHosts: readonly string[] = ["127.0.0.1", "[::1]", "localhost"];
/** Scheme, authority, path, query: in the form in which a browser writes them. */
const parts = /^(https?):\/\/([a-z0-9.-]+|\[[0-9a-f:]+\])(:[1-9][0-9]{0,4})?(\/[^?]*)?(\?.*)?$/;
/** A slash, a backslash or a dot that is escaped, however often: some server unescapes it and walks. */
const escapedStructure = /%(?:25)*(?:2e|2f|5c)/i;
const escapedControl = /%(?:25)*(?:[01][0-9a-f]|7f)/i;
const malformedEscape = /%(?![0-9a-f]{2})/i;

interface ReturnUrl {
  readonly origin: string;
  /** Begins with a slash. */
  readonly path: string;
  /** Empty, or begins with a question mark. */
  readonly query: string;
}

/** @returns undefined for everything that is not plainly one web address */
function readReturnUrl(text: string): ReturnUrl | undefined {
  if (text.length > MAX_LENGTH) return undefined;
  // Printable ASCII: no controls, no spaces, no letters that look like others. A fragment would swallow the key.
  if (/[^\x21-\x7e]/.test(text) || /[\\#<>"^`{|}]/.test(text)) return undefined;
  const match = parts.exec(text);
  if (!match) return undefined;
  const [, scheme = "", host = "", port = "", path = "/", query = ""] = match;
  if (scheme === "http" && !loopbackHosts.includes(host)) return undefined;
  if (!isPlainPath(path)) return undefined;
  const origin = `${scheme}://${host}${port}`;
  // The browser's own reading: a number that is an address, a default port, a name that is none.
  const url = URL.parse(text);
  if (url?.origin !== origin || url.pathname !== path) return undefined;
  return { origin, path, query };
}

function isPlainPath(path: string): boolean {
  if (escapedStructure.test(path) || escapedControl.test(path) || malformedEscape.test(path)) return false;
  // Overlong UTF-8 (`%c0%ae` for a dot) is no character to us, and one to servers that decode it loosely.
  if (decodeFormComponent(path) === undefined) return false;
  // `..;x` is a dot segment to servers that know path parameters, `..%3bx` or `..%3fx` to one behind another that
  // unescapes it: so is every segment whose dots are followed by what is not part of a plain name. `//` begins a host
  // to those that join addresses.
  const segments = path.slice(1).split("/");
  return segments.every(
    (segment, index) => !/^\.+(?![\w.-])/.test(segment) && (segment !== "" || index === segments.length - 1),
  );
}

/** Whether an application may register it: what can never match is not worth having. */
export const isRegistrableReturnUrl = (text: string): boolean => readReturnUrl(text) !== undefined;

/**
 * Whether the URL is a registered one or below one: same origin, and the registered path as a prefix that ends at a segment. A
 * registered URL with a query matches only itself.
 */
export function matchReturnUrl(requested: string, registered: readonly string[]): boolean {
  const url = readReturnUrl(requested);
  return url !== undefined && registered.some((text) => covers(text, requested, url));
}

function covers(text: string, requested: string, { origin, path }: ReturnUrl): boolean {
  const allowed = readReturnUrl(text);
  if (allowed?.origin !== origin) return false;
  if (allowed.query !== "") return text === requested;
  if (path === allowed.path) return true;
  return path.startsWith(allowed.path.endsWith("/") ? allowed.path : `${allowed.path}/`);
}

/** The URL with this parameter once: an existing one, in any case or escapes, is removed, so that nobody injects a value. */
export function withParameter(returnUrl: string, name: string, value: string): string {
  const url = withoutParameter(returnUrl, name);
  return `${url}${url.includes("?") ? "&" : "?"}${name}=${encodeURIComponent(value)}`;
}

/** The address without any parameter of that name. */
export function withoutParameter(returnUrl: string, name: string): string {
  const [address, query] = splitOnce(returnUrl, "?");
  const others = query.split("&").filter((part) => part !== "" && nameOf(part) !== name.toLowerCase());
  return others.length === 0 ? address : `${address}?${others.join("&")}`;
}

function nameOf(part: string): string {
  const [name] = splitOnce(part, "=");
  return (decodeFormComponent(name) ?? name).toLowerCase();
}

function splitOnce(text: string, at: string): [string, string] {
  const index = text.indexOf(at);
  return index === -1 ? [text, ""] : [text.slice(0, index), text.slice(index + 1)];
}
