/** The members tab of a group: the form that adds one, and the list. */
import type { CountedGroup } from "../../../core/groups/groups.store.ts";
import { buttonLink } from "../../../html/components/button.ts";
import { card } from "../../../html/components/card.ts";
import { textField } from "../../../html/components/fields.ts";
import { fieldsOf } from "../../../html/components/form-page.ts";
import type { FormView } from "../../../html/components/form-state.ts";
import { recordForm } from "../../../html/components/record-form.ts";
import { type Content, type Html, html } from "../../../html/html.ts";
import { listCard } from "../../../page-kit/list/list-route.ts";

export type MemberInput = { member: string };

type MembersView = FormView<MemberInput> & {
  readonly group: CountedGroup;
  /** The list. */
  readonly section: Html;
};

export const membersContent = (view: MembersView): Content => [
  view.group.source === "local"
    ? addCard(view)
    : html`<p class="quiet">${view.messages.console.groups.readOnly}</p>
`,
  listCard(view.messages.console.groups.members.title, view.section),
];

function addCard(view: MembersView): Html {
  const { members: text } = view.messages.console.groups;
  const field = fieldsOf(view, { member: text.member });
  return card({
    id: "add-member",
    title: text.addTitle,
    actions: buttonLink({ id: "members-import", uri: `${view.action}/import`, label: text.import.open }),
    body: recordForm({
      ...view,
      isWide: false,
      id: "member-form",
      fields: textField({ ...field("member"), hint: text.memberHint }),
      submit: { id: "member-add", label: text.add },
    }),
  });
}
