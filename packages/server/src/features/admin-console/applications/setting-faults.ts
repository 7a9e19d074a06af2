/** The core's faults of a record, in the reader's language and by the field that each is about. */
import { type ClientType, checkRegistrableRedirectUri } from "@signet/protocol/oauth/redirect-uri";
import { isRegistrableReturnUrl } from "@signet/protocol/return-url";
import type { Fault } from "../../../core/applications/validation.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import type { SettingId } from "./setting-fields.ts";
import { readLines } from "./settings-input.ts";

type Texts = Messages["console"]["applicationSettings"];

/** @returns by field id, one fault each, in the order of the page */
export function settingFaults(
  faults: readonly Fault[],
  ids: readonly SettingId[],
  { console: { applicationSettings: text } }: Messages,
): Record<string, string> {
  const found = faults.map((fault) => [faultField(fault), faultText(fault, text)] as const);
  const first = (id: string) => found.find(([field]) => field === id)?.[1];
  return Object.fromEntries(
    ids.flatMap((id) => {
      const fault = first(id);
      return fault === undefined ? [] : [[id, fault]];
    }),
  );
}

function faultField({ path }: Fault): string {
  const [, member = ""] = /^(\w+)/.exec(path) ?? [];
  // Two members for one setting; the form has `consentMode`.
  return member === "requireConsent" ? "consentMode" : member;
}

function faultText({ path, message }: Fault, text: Texts): string {
  const [, member = "", index] = /^(\w+)(?:\[(\d+)\])?/.exec(path) ?? [];
  const own: Readonly<Record<string, string>> = text.faults;
  const general = Object.hasOwn(own, member) ? (own[member] ?? text.faults.other) : text.faults.other;
  if (index === undefined) return general;
  return text.inLine({ count: Number(index) + 1, value: addressReason(message, text) ?? general });
}

/** By the beginning of the messages of protocol/redirect-uri.ts and return-url.ts. */
const sentences: ReadonlyArray<readonly [begins: string, reason: keyof Texts["reasons"]]> = [
  ["must not be longer", "tooLong"],
  ["must be printable", "printable"],
  ["must not hold a backslash", "backslash"],
  ["must not hold a wildcard", "wildcard"],
  ["must not have a fragment", "fragment"],
  ["must be an absolute", "absolute"],
  ["must not hold a user", "userinfo"],
  ["must not hold dot", "dotSegments"],
  ["must have a plain host", "host"],
  ["must be https", "https"],
  ["may use a private-use", "privateUse"],
  ["must have a slash", "slash"],
  ["must be written in", "normalForm"],
  ["must be an https URL", "plain"],
];

function addressReason(message: string, { reasons }: Texts): string | undefined {
  const found = sentences.find(([begins]) => message.startsWith(begins));
  return found && reasons[found[1]];
}

/** The first line's fault; undefined when all lines are valid. */
export function redirectUrisFault(value: string, type: ClientType, messages: Messages): string | undefined {
  return firstFault("redirectUris", value, (uri) => checkRegistrableRedirectUri(uri, type), messages);
}

export function returnUrlsFault(value: string, type: ClientType, messages: Messages): string | undefined {
  const check = (url: string) =>
    checkRegistrableRedirectUri(url, type) ??
    (isRegistrableReturnUrl(url) ? undefined : "must be an https URL");
  return firstFault("returnUrls", value, check, messages);
}

function firstFault(
  member: string,
  value: string,
  check: (line: string) => string | undefined,
  { console: { applicationSettings: text } }: Messages,
): string | undefined {
  for (const [index, line] of readLines(value).entries()) {
    const message = check(line);
    if (message !== undefined) return faultText({ path: `${member}[${index}]`, message }, text);
  }
  return undefined;
}
