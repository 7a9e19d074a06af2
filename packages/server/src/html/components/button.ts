/** Buttons, and links that look like them. Styles: `.button` in forms.css. */
import { type Content, type Html, html, linkAddress } from "../html.ts";
import { type IconName, icon } from "./icons.ts";

/** One primary button on a page; quiet ones stand beside others that matter more. */
export type ButtonKind = "primary" | "secondary" | "quiet" | "danger";

type ButtonLook = {
  id: string;
  label: string;
  kind?: ButtonKind | undefined;
  icon?: IconName | undefined;
};

const CLASSES = { primary: " primary", secondary: "", quiet: " plain", danger: " dangerous" } as const;

const classOf = ({ kind = "secondary" }: ButtonLook): string => `button${CLASSES[kind]}`;

const inside = (view: ButtonLook): Content => [view.icon && icon(view.icon), view.label];

/** @param view.isBusy it was pressed, and the answer is on its way */
export function button(
  view: ButtonLook & {
    type?: "submit" | "button";
    name?: string;
    value?: string;
    isBusy?: boolean;
    isDisabled?: boolean;
    /** The id of a popover that it opens. */
    opens?: string;
  },
): Html {
  const { id, type = "submit", name, value } = view;
  return html`<button class="${classOf(view)}" id="${id}" type="${type}"${name !== undefined && html` name="${name}"`}${
    value !== undefined && html` value="${value}"`
  }${view.opens !== undefined && html` popovertarget="${view.opens}"`}${view.isBusy && html` aria-busy="true"`}${
    view.isDisabled && html` disabled`
  }>${inside(view)}</button>
`;
}

/** @param view.isQuestion its page asks for a confirmation: scripts/dialog.js shows that in a dialog */
export function buttonLink(view: ButtonLook & { uri: string; isQuestion?: boolean }): Html {
  return html`<a class="${classOf(view)}" id="${view.id}" href="${linkAddress(view.uri)}"${view.isQuestion && html` data-dialog`}>${inside(view)}</a>
`;
}
