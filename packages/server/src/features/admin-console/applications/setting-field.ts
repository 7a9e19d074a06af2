/** One setting of an application: as the control that setting-fields.ts chooses, in words, and checked while typing. */
import type { ClientType } from "@signet/protocol/oauth/redirect-uri";
import { lifetimeRanges } from "../../../core/applications/validation.ts";
import { durationInput, toDurationText } from "../../../html/components/duration-input.ts";
import {
  checkField,
  checkList,
  radioField,
  selectField,
  textArea,
  textField,
} from "../../../html/components/fields.ts";
import { type FormState, fieldState } from "../../../html/components/form-state.ts";
import { scopePicker } from "../../../html/components/scope-picker.ts";
import { uriList } from "../../../html/components/uri-list.ts";
import { type Content, html } from "../../../html/html.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { redirectUrisFault, returnUrlsFault } from "./setting-faults.ts";
import { controls, type SettingId } from "./setting-fields.ts";
import { OTHER_SCOPES, readLines, type SettingsInput, SHARED_WITH } from "./settings-input.ts";

export type FieldSource = {
  input: SettingsInput;
  state: FormState;
  clientType: ClientType;
  scopes: ReadonlyArray<{
    name: string;
    kind: "standard" | "custom" | "api";
    text?: string | undefined;
    isSensitive?: boolean;
  }>;
  pools: ReadonlyArray<{ id: string; name: string }>;
  /** Address of a check, see settings.route.ts. */
  checkUri(name: CheckName): string;
  messages: Messages;
};

export const checkNames = ["redirect-uris", "return-urls"] as const;
type CheckName = (typeof checkNames)[number];

const PROSE_ROWS = 3;
const MAX_ROWS = 12;

export function settingField(id: SettingId, source: FieldSource): Content {
  const { messages, state, input } = source;
  const text = messages.console.applicationSettings;
  const { label, hint } = text.fields[id];
  const common = { id, label, hint, messages, ...fieldState(state, id) };
  const value = input[id] ?? "";
  const control = controls[id];
  switch (control.kind) {
    case "text": {
      const { isCode = false, isRequired = false } = control;
      return textField({ ...common, value, isCode, isRequired, isOptional: !isRequired });
    }
    case "prose":
      return textArea({ ...common, value, rows: PROSE_ROWS, isOptional: true });
    case "uris":
      return urisField(common, value, control.check, source);
    case "lines":
      return textArea({ ...common, value, rows: textRows(value), isOptional: true });
    case "check":
      return checkField({ ...common, isChecked: value === "on" });
    case "seconds":
      return secondsField(id, { ...common, value }, source);
    case "radio":
      return radioField({ ...common, value, choices: labelChoices(id, control, messages) });
    case "select":
      return selectField({ ...common, value, choices: labelChoices(id, control, messages) });
    case "several":
      return checkList({ ...common, values: readLines(value), choices: labelChoices(id, control, messages) });
    case "scopes":
      return scopesField({ ...common, value }, source);
    case "shared":
      return sharedField({ ...common, value }, labelChoices(id, control, messages));
    case "pool":
      return selectField({ ...common, value, choices: poolChoices(source, value) });
    case "jwks":
      return textArea({ ...common, value, rows: textRows(value), isCode: true, isOptional: true });
  }
}

type Common = Parameters<typeof textField>[0];

const textRows = (value: string): number => Math.min(MAX_ROWS, value.split("\n").length + 1);

/** A value that means another thing in another setting (`assigned`) has its label under its own setting. */
function labelChoices(
  id: SettingId,
  control: { values: readonly string[]; hasNone?: boolean },
  { console: { applicationSettings } }: Messages,
) {
  const own: Readonly<Partial<Record<SettingId, Readonly<Record<string, string>>>>> =
    applicationSettings.ownChoices;
  const labels: Readonly<Record<string, string>> = own[id] ?? applicationSettings.choices;
  const texts: Readonly<Record<string, string>> = own[id] ? {} : applicationSettings.choiceTexts;
  const choices = control.values.map((value) => ({
    value,
    label: labels[value] ?? value,
    ...(Object.hasOwn(texts, value) ? { text: texts[value] ?? "" } : {}),
  }));
  const { noMinimum, anyAlgorithm, notSigned, notEncrypted } = applicationSettings;
  const none: Readonly<Partial<Record<SettingId, string>>> = {
    ...{ requiredAcr: noMinimum, userinfoSignedResponseAlg: notSigned },
    idTokenEncryptedResponseAlg: notEncrypted,
  };
  return control.hasNone ? [{ value: "", label: none[id] ?? anyAlgorithm }, ...choices] : choices;
}

const rowChecks = { "redirect-uris": redirectUrisFault, "return-urls": returnUrlsFault } as const;

/** A fault stands in the row that it is about, if it is about one. */
function urisField(
  { fault, ...common }: Omit<Common, "value">,
  value: string,
  check: keyof typeof rowChecks | undefined,
  { clientType, messages }: FieldSource,
): Content {
  const values = readLines(value);
  const rows = values.flatMap((uri, row) => {
    const found = fault === undefined || !check ? undefined : rowChecks[check](uri, clientType, messages);
    return found === undefined ? [] : [[row, found] as const];
  });
  const ofField = rows.length === 0 && fault !== undefined ? { fault } : {};
  return uriList({ ...common, ...ofField, values, rowFaults: Object.fromEntries(rows) });
}

function secondsField(id: SettingId, { value, ...common }: Common, { messages }: FieldSource): Content {
  const { range } = messages.console.applicationSettings;
  const [min, max] = lifetimeRanges[id as keyof typeof lifetimeRanges];
  return durationInput({
    ...common,
    // The hint says what nought means.
    hint: min === 0 ? common.hint : `${String(common.hint)} ${range({ min, max })}`,
    value: isSeconds(value) ? toDurationText(Number(value)) : { amount: value, unit: "seconds" },
    ...(max <= MAX_IN_SECONDS ? { units: ["seconds", "minutes"] } : {}),
  });
}

/** Shorter settings are thought of in seconds. */
const MAX_IN_SECONDS = 600;

const isSeconds = (value: string): boolean => /^\d{1,9}$/.test(value);

function scopesField(common: Common, { scopes, messages }: FieldSource): Content {
  const { other, otherHint } = messages.console.applicationSettings.otherScopes;
  const chosen = readLines(common.value);
  const listed = scopes.map(({ name }) => name);
  const others = chosen.filter((name) => !listed.includes(name)).join("\n");
  const { own: custom, standard } = messages.console.scopes;
  const { group: api, ...ofApi } = messages.console.applicationSettings.apiScopes;
  const groups = { standard, custom, api } as const;
  const known: Readonly<Record<string, string>> = { ...messages.scopes, ...ofApi };
  const choices = scopes.map(({ name, kind, text = known[name], isSensitive }) => ({
    ...{ name, text, isSensitive, group: groups[kind] },
  }));
  return [
    scopePicker({ ...common, values: chosen, choices, sensitive: messages.consent.sensitive }),
    textArea({
      id: OTHER_SCOPES,
      label: other,
      hint: otherHint,
      value: others,
      rows: textRows(others),
      isCode: true,
      isOptional: true,
      messages,
    }),
  ];
}

/** The organisations are asked for where some are chosen: styles/console-applications.css shows the field then. */
function sharedField(common: Common, choices: ReturnType<typeof labelChoices>): Content {
  const [mode = "none", ...ids] = readLines(common.value);
  const { label, hint } = common.messages.console.applicationSettings.sharedWith;
  return [
    radioField({ ...common, value: mode, choices }),
    html`<div class="for-named-organisations">${textArea({
      ...{ id: SHARED_WITH, label, hint, value: ids.join("\n"), rows: textRows(ids.join("\n")) },
      ...{ isCode: true, messages: common.messages },
    })}</div>
`,
  ];
}

function poolChoices({ pools, messages }: FieldSource, value: string) {
  const { noPool, unknownPool } = messages.console.applicationSettings;
  const known = pools.map(({ id, name }) => ({ value: id, label: name }));
  const isKnown = value === "" || pools.some(({ id }) => id === value);
  return [
    { value: "", label: noPool },
    ...known,
    ...(isKnown ? [] : [{ value, label: `${unknownPool} ${value}` }]),
  ];
}

/** A setting's value in words, beside a field that somebody else has changed. */
export function displaySetting(id: SettingId, value: string, messages: Messages): string {
  const { applicationSettings, frame } = messages.console;
  const { kind } = controls[id];
  if (kind === "check") return value === "on" ? frame.yes : frame.no;
  if (value === "") return "";
  if (kind === "seconds" && isSeconds(value)) return applicationSettings.lifetime({ seconds: Number(value) });
  const own: Readonly<Record<string, string>> = applicationSettings.ownChoices.shared;
  const labels: Readonly<Record<string, string>> = kind === "shared" ? own : applicationSettings.choices;
  const hasLabels = ["shared", "radio", "select", "several"].includes(kind);
  const parts = value.split("\n").map((part) => (hasLabels ? (labels[part] ?? part) : part));
  return parts.join(kind === "jwks" ? " " : ", ");
}

/** The result of a check while typing. */
export function checkValue(
  name: CheckName,
  value: string,
  type: ClientType,
  messages: Messages,
): { ok: boolean; text: string } {
  const fault = rowChecks[name](value, type, messages);
  const { fine } = messages.console.applicationSettings;
  return fault === undefined
    ? { ok: true, text: readLines(value).length === 0 ? "" : fine }
    : { ok: false, text: fault };
}
