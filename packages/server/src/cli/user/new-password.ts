/** Passwords are typed, piped in or generated; never an argument, which other processes can read. */
import type { Organisation } from "../../core/organisations/organisation.ts";
import { generatePassword } from "../../core/passwords/password-hasher.ts";
import { type Call, type Options, UsageError } from "../command.ts";

export const generateOption: Options = {
  generate: { type: "boolean", help: "generate a password and show it once" },
};

/** @returns the password, and in `toShow` when it was generated */
export async function newPassword(
  { values, io }: Call,
  organisation: Organisation,
): Promise<{ text: string; toShow?: string }> {
  if (values.generate) {
    const text = generatePassword(organisation.settings);
    return { text, toShow: text };
  }
  const text = await io.readSecret("New password");
  if (text === "") throw new UsageError("a password is required: type it, pipe it in, or add --generate");
  return { text };
}
