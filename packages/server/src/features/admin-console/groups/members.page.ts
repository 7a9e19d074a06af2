/** The members tab of a group. */
import type { GroupMember } from "../../../core/groups/group-members.store.ts";
import type { CountedGroup } from "../../../core/groups/groups.store.ts";
import { card } from "../../../html/components/card.ts";
import { textField } from "../../../html/components/fields.ts";
import { fieldsOf } from "../../../html/components/form-page.ts";
import type { FormView } from "../../../html/components/form-state.ts";
import { pagination } from "../../../html/components/pagination.ts";
import { recordForm } from "../../../html/components/record-form.ts";
import { nameCell, rowLink, table } from "../../../html/components/table.ts";
import { type Content, type Html, html } from "../../../html/html.ts";
import { listCard } from "../../../page-kit/list/list-route.ts";

export type MemberInput = { member: string };

type MembersView = FormView<MemberInput> & {
  readonly group: CountedGroup;
  readonly members: readonly GroupMember[];
  readonly newestUri: string | undefined;
  readonly olderUri: string | undefined;
};

export const membersContent = (view: MembersView): Content => [
  view.group.source === "local" && addCard(view),
  membersCard(view),
];

function addCard(view: MembersView): Html {
  const { members: text } = view.messages.console.groups;
  const field = fieldsOf(view, { member: text.member });
  return card({
    id: "add-member",
    title: text.addTitle,
    body: recordForm({
      ...view,
      isWide: false,
      id: "member-form",
      fields: textField({ ...field("member"), hint: text.memberHint }),
      submit: { id: "member-add", label: text.add },
    }),
  });
}

function membersCard(view: MembersView): Html {
  const { messages, group, consoleUri } = view;
  const { members: text, readOnly } = messages.console.groups;
  const isOwn = group.source === "local";
  const rows = view.members.map(({ type, id, displayName }) => ({
    id: `member-${id}`,
    cells: [nameCell({ name: displayName, uri: consoleUri(`/${type}s/${id}`) }), text.types[type]],
    ...(isOwn && {
      actions: rowLink({
        id: `member-remove-${id}`,
        uri: consoleUri(`/groups/${group.id}/members/${id}/remove`),
        text: text.remove,
        label: text.removeOf({ name: displayName }),
      }),
    }),
  }));
  const columns = [text.name, text.type];
  return listCard(
    text.title,
    html`${!isOwn && html`<p class="quiet">${readOnly}</p>`}${table({ label: text.title, columns, rows, none: text.none, messages })}${pagination(view)}`,
  );
}
