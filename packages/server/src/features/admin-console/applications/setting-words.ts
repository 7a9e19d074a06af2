/** A setting's value as people read it: beside a field that somebody else has changed. */
import type { Messages } from "../../../html/messages/messages.ts";
import { controls, type SettingId } from "./setting-fields.ts";

export function inWords(id: SettingId, value: string, messages: Messages): string {
  const { applicationSettings, frame } = messages.console;
  const control = controls[id];
  if (control.kind === "check") return value === "on" ? frame.yes : frame.no;
  if (value === "") return "";
  const labels: Readonly<Record<string, string>> = applicationSettings.choices;
  const worded = ["radio", "select", "several"].includes(control.kind);
  const parts = value.split("\n").map((part) => (worded ? (labels[part] ?? part) : part));
  return parts.join(control.kind === "jwks" ? " " : ", ");
}
