/** A file that is read into a text field by scripts/file-text.js: without scripts the text is pasted. */
import { type Html, html } from "../html.ts";

/** @param view.field the text field's id @param view.read says that it was read; its name stands for `#` */
export function fileText(view: {
  id: string;
  field: string;
  label: string;
  hint: string;
  /** `.csv,text/csv` */
  accept: string;
  maxBytes: number;
  read: string;
  tooLarge: string;
}): Html {
  const { id, field, maxBytes, read, tooLarge } = view;
  return html`<div class="field" data-file-text="${field}" data-max-bytes="${maxBytes}" data-read="${read}" data-too-large="${tooLarge}" hidden><label for="${id}">${view.label}</label>
<div class="control-said"><input id="${id}" type="file" accept="${view.accept}" aria-describedby="${id}-hint"><p class="field-hint" role="status"></p></div>
<p class="field-hint" id="${id}-hint">${view.hint}</p></div>
`;
}
