/** The faults of a new application, at the two fields of the quickstart's forms. */
import type { InvalidApplication } from "../../../core/applications/validation.ts";
import type { Messages } from "../../../html/messages/messages.ts";

export function explainFaults({ faults }: InvalidApplication, { console }: Messages): Record<string, string> {
  const { faults: text, reasons } = console.applicationSettings;
  // These texts follow a colon elsewhere.
  const capitalize = (fault: string) => fault.replace(/^./u, (letter) => letter.toUpperCase());
  const isName = faults.some(({ path }) => path === "name");
  return isName ? { name: capitalize(text.name) } : { address: capitalize(reasons.https) };
}
