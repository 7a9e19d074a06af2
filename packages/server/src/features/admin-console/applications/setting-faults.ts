/** The core's faults of a record, in the reader's language and by the field that each is about. */
import { type ClientType, checkRegistrableRedirectUri } from "@signet/protocol/oauth/redirect-uri";
import { type Fault, returnUrlFault } from "../../../core/applications/validation.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import type { SettingId } from "./setting-fields.ts";
import { readLines } from "./settings-input.ts";

type Texts = Messages["console"]["applicationSettings"];

/**
 * @param isSingle each list has one line: its number says nothing
 * @returns by field id, one fault each, in the order of the page
 */
export function settingFaults(
  faults: readonly Fault[],
  ids: readonly SettingId[],
  { console: { applicationSettings: text } }: Messages,
  isSingle = false,
): Record<string, string> {
  const texts = [
    ...faults.map((fault) => [faultField(fault), faultText(fault, text, isSingle)] as const),
    ...missingForProfile(faults, ids, text),
  ];
  const first = (id: string) => texts.find(([field]) => field === id)?.[1];
  return Object.fromEntries(
    ids.flatMap((id) => {
      const fault = first(id);
      return fault === undefined ? [] : [[id, fault]];
    }),
  );
}

/** What the security profile misses and other tabs have: it is told where the profile is chosen. */
function missingForProfile(
  faults: readonly Fault[],
  ids: readonly SettingId[],
  { fields, missingForProfile }: Texts,
): Array<readonly [string, string]> {
  const elsewhere = faults
    .filter(({ code }) => code === "profile")
    .map(faultField)
    .filter((field) => !ids.some((id) => id === field));
  if (elsewhere.length === 0) return [];
  const labels: Readonly<Record<string, { readonly label: string }>> = fields;
  const names = [...new Set(elsewhere)].map((field) => labels[field]?.label ?? field).join(", ");
  return [["securityProfile", missingForProfile({ names })]];
}

function faultField({ path }: Fault): string {
  const [, member = ""] = /^(\w+)/.exec(path) ?? [];
  // Two members for one setting; the form has `consentMode`.
  return member === "requireConsent" ? "consentMode" : member;
}

function faultText({ path, code, value = "" }: Fault, text: Texts, isSingle = false): string {
  if (code === "profile") return text.requiredByProfile;
  if (code === "undefinedScope") return text.undefinedScope({ scope: value });
  const [, member = "", index] = /^(\w+)(?:\[(\d+)\])?/.exec(path) ?? [];
  const own: Readonly<Record<string, string>> = text.faults;
  const general = Object.hasOwn(own, member) ? (own[member] ?? text.faults.other) : text.faults.other;
  if (index === undefined) return general;
  const reason = code ? text.reasons[code] : general;
  return isSingle ? capitalized(reason) : text.inLine({ count: Number(index) + 1, value: reason });
}

/** A reason alone is a sentence; after a line's number it goes on. */
const capitalized = (text: string): string => text.charAt(0).toLocaleUpperCase() + text.slice(1);

/** The first line's fault; undefined when all lines are valid. */
export function redirectUrisFault(value: string, type: ClientType, messages: Messages): string | undefined {
  return firstFault("redirectUris", value, (uri) => checkRegistrableRedirectUri(uri, type), messages);
}

export function returnUrlsFault(value: string, type: ClientType, messages: Messages): string | undefined {
  return firstFault("returnUrls", value, (url) => returnUrlFault(url, type), messages);
}

function firstFault(
  member: string,
  value: string,
  check: (line: string) => Omit<Fault, "path"> | undefined,
  { console: { applicationSettings: text } }: Messages,
): string | undefined {
  const lines = readLines(value);
  for (const [index, line] of lines.entries()) {
    const fault = check(line);
    if (fault) return faultText({ path: `${member}[${index}]`, ...fault }, text, lines.length === 1);
  }
  return undefined;
}
