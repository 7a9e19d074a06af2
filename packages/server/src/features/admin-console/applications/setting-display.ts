/** A setting's value in words, beside a field that somebody else has changed. */
import type { Messages } from "../../../html/messages/messages.ts";
import { controls, type SettingId } from "./setting-fields.ts";

export function displaySetting(id: SettingId, value: string, messages: Messages): string {
  const { applicationSettings, frame } = messages.console;
  const control = controls[id];
  if (control.kind === "check") return value === "on" ? frame.yes : frame.no;
  if (value === "") return "";
  const labels: Readonly<Record<string, string>> = applicationSettings.choices;
  const hasLabels = ["radio", "select", "several"].includes(control.kind);
  const parts = value.split("\n").map((part) => (hasLabels ? (labels[part] ?? part) : part));
  return parts.join(control.kind === "jwks" ? " " : ", ");
}
