import { type Content, type Html, html } from "../html.ts";
import { mark } from "./mark.ts";

/** The signed-in user, with actions below. */
export function person(label: string, email: string, below?: Content): Html {
  return html`<div class="person">
${mark(email)}
<div class="person-text"><span><span class="visually-hidden">${label} </span><bdi>${email}</bdi></span>
${below}</div>
</div>
`;
}
