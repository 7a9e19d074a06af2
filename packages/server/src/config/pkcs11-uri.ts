/** A PKCS #11 URI (RFC 7512), as far as it names one key and how to reach it. */
import { resolve } from "node:path";
import type { Pkcs11Location } from "../core/encryption/pkcs11-wrapping.ts";

const SHAPE = "pkcs11:token=LABEL;object=LABEL?module-path=LIBRARY&pin-source=FILE";

/** @returns what is wrong, in a sentence */
export function readPkcs11Uri(uri: string): Pkcs11Location | string {
  const [, path = "", query = ""] = /^pkcs11:([^?]*)(?:\?(.*))?$/.exec(uri) ?? [];
  const members = new Map<string, string>();
  for (const part of [...path.split(";"), ...query.split("&")].filter((one) => one !== "")) {
    const at = part.indexOf("=");
    const value = decode(part.slice(at + 1));
    if (at < 1 || value === undefined || value === "") return `must be ${SHAPE}`;
    const name = part.slice(0, at);
    // Anybody who sees the environment of a process would have it.
    if (name === "pin-value")
      return "must not have pin-value: put the PIN into a file and name it with pin-source";
    if (members.has(name)) return `has ${name} twice`;
    members.set(name, value);
  }
  const read = (name: string) => members.get(name) ?? "";
  const [token, object, module] = [read("token"), read("object"), read("module-path")];
  const pin = read("pin-source").replace(/^file:(?:\/\/)?/, "");
  const unknown = [...members.keys()].find(
    (name) => !["token", "object", "module-path", "pin-source", "type"].includes(name),
  );
  if (unknown !== undefined) return `has ${unknown}, which Signet does not use: it must be ${SHAPE}`;
  if (!token || !object || !module || !pin) return `must be ${SHAPE}`;
  return { token, object, module: resolve(module), pinFile: resolve(pin) };
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
