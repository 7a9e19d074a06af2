/** A password for somebody else: typed, piped in or made; never an argument, which others on the machine could read. */
import { randomSecret } from "@signet/protocol/hash";
import type { Organisation } from "../core/organisations/organisation.ts";
import { type Call, type Options, UsageError } from "./command.ts";

export const generateOption: Options = {
  generate: { type: "boolean", help: "make a password and show it, this once" },
};

/** @returns the password, and once more to be shown when it was made here */
export async function newPassword(
  { values, io }: Call,
  organisation: Organisation,
): Promise<{ text: string; toShow?: string }> {
  if (values.generate) {
    // Four characters for three bytes, and never under 120 bits.
    const bytes = Math.max(15, Math.ceil((organisation.settings.passwordMinLength * 3) / 4));
    const text = randomSecret("", bytes);
    return { text, toShow: text };
  }
  const text = await io.readSecret("New password");
  if (text === "") throw new UsageError("there is no password: type or pipe one in, or use --generate");
  return { text };
}
