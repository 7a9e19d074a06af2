/** Option values of the form NAME=VALUE. */
import { jsonOrText, repeatedText, UsageError, type Values } from "../command.ts";

/** @throws UsageError */
export function readNameValues(values: Values, option: string): Record<string, unknown> {
  return Object.fromEntries(
    repeatedText(values, option).map((text) => {
      const [, name = "", value = ""] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
      if (name === "") throw new UsageError(`--${option} ${text} must have the form NAME=VALUE`);
      return [name, jsonOrText(value)];
    }),
  );
}
