/** A password for somebody else: typed, piped in or made; never an argument, which others on the machine could read. */
import type { Organisation } from "../../core/organisations/organisation.ts";
import { generatedPassword } from "../../core/passwords/generated-password.ts";
import { type Call, type Options, UsageError } from "../command.ts";

export const generateOption: Options = {
  generate: { type: "boolean", help: "make a password and show it, this once" },
};

/** @returns the password, and once more to be shown when it was made here */
export async function newPassword(
  { values, io }: Call,
  organisation: Organisation,
): Promise<{ text: string; toShow?: string }> {
  if (values.generate) {
    const text = generatedPassword(organisation.settings);
    return { text, toShow: text };
  }
  const text = await io.readSecret("New password");
  if (text === "") throw new UsageError("there is no password: type or pipe one in, or use --generate");
  return { text };
}
