import { type Content, type Html, html } from "../html.ts";
import { mark } from "./mark.ts";

/** Who is signed in, with whatever can be done about it underneath. */
export function person(label: string, email: string, below?: Content): Html {
  return html`<div class="person">
${mark(email)}
<div class="person-text"><span><span class="visually-hidden">${label} </span><bdi>${email}</bdi></span>
${below}</div>
</div>
`;
}
