/** The form of one entry of the gallery: a name and the application's URL, both filled in, and where sign-ins will return. */
import { settingsAt } from "../../../core/applications/kinds.ts";
import { settingsOfStack } from "../../../core/stacks/stack.ts";
import { stacks } from "../../../core/stacks/stacks.ts";
import { textField } from "../../../html/components/fields.ts";
import { fieldsOf, formPage } from "../../../html/components/form-page.ts";
import type { FormView } from "../../../html/components/form-state.ts";
import { type Content, type Html, html } from "../../../html/html.ts";
import { titleOf } from "./gallery.page.ts";
import type { GalleryEntry } from "./gallery.ts";

export type ApplicationInput = { name: string; address: string };

/** @param address that the entry starts with; undefined when nothing returns to the application's URL */
export function applicationFormPage(
  view: FormView<ApplicationInput>,
  entry: GalleryEntry,
  address: string | undefined,
): Html {
  const { messages, consoleUri } = view;
  const { begin, stacks: text } = messages.console.quickstart;
  const title = titleOf(entry, messages);
  const labels = { name: begin.name, address: begin.address };
  const field = fieldsOf(view, labels);
  return formPage({
    ...view,
    breadcrumbs: [{ label: messages.console.frame.pages.quickstart, uri: consoleUri("/quickstart") }],
    title,
    summary: text.summary,
    cardLabel: title,
    id: "quickstart-form",
    labels,
    hidden: [{ name: "for", value: entry.name }],
    fields: [
      textField({ ...field("name"), hint: begin.nameHint, maxLength: 100, isRequired: true }),
      address !== undefined &&
        textField({
          ...field("address"),
          hint: [text.addressHint, redirectHint(entry, address, begin.redirect)],
          isCode: true,
          isRequired: true,
        }),
    ],
    submit: { id: "quickstart-create", label: text.submit },
    cancelUri: consoleUri("/quickstart"),
  });
}

/** Where sign-ins return to at first: with the address that the form starts with. */
function redirectHint(entry: GalleryEntry, address: string, label: string): Content {
  const { redirectUris = [] } =
    entry.stack === undefined
      ? settingsAt(entry.kind, address)
      : settingsOfStack(stacks[entry.stack], address);
  const [first] = redirectUris;
  return first !== undefined && html`<br>${label} <code id="redirect-preview">${first}</code>`;
}
