/** The parts of a role's page, and its form. */
import { buttonLink } from "../../../html/components/button.ts";
import { card, facts } from "../../../html/components/card.ts";
import { textArea, textField } from "../../../html/components/fields.ts";
import { fieldsOf, formPage } from "../../../html/components/form-page.ts";
import type { FormView } from "../../../html/components/form-state.ts";
import { recordIcon } from "../../../html/components/record-heading.ts";
import { relativeTime } from "../../../html/components/relative-time.ts";
import { type Content, type Html, html } from "../../../html/html.ts";
import { queryString } from "../../../page-kit/page.ts";
import type { RecordParts } from "../../../page-kit/record-pages.ts";
import type { RoleInput } from "./role-input.ts";
import { type ApplicationRole, applicationCrumbs, type RoleView } from "./role-pages.ts";

export function aboveRole({ record: role, uriOf, messages }: RoleView): RecordParts {
  const { roles: text } = messages.console;
  const remove = { id: "role-delete", uri: uriOf("/delete"), label: text.deleteRole };
  return {
    head: {
      name: role.name,
      mark: recordIcon("shield"),
      facts: [role.applicationName, text.permissionCount({ count: role.permissions.length })],
      id: { id: "role-id", value: role.id, label: text.id },
    },
    actions: buttonLink({ id: "role-edit", uri: uriOf("/edit"), label: text.edit }),
    more: [{ ...remove, isQuestion: true, isDangerous: true }],
    done: text.done,
  };
}

export const roleGeneral = ({ record: role, messages, consoleUri }: RoleView): Content => [
  card({
    id: "role-details",
    title: messages.console.roles.details,
    body: facts([
      { label: messages.console.roles.key, content: html`<code>${role.key}</code>` },
      {
        label: messages.console.roles.description,
        content: role.description !== null && html`<bdi>${role.description}</bdi>`,
      },
      {
        label: messages.console.roles.created,
        content: relativeTime(role.createdAt, messages.format.day),
      },
    ]),
  }),
  card({
    id: "role-permissions",
    title: messages.console.roles.permissions,
    text: role.permissions.length === 0 ? messages.console.roles.noPermissions : undefined,
    actions: buttonLink({
      id: "role-why",
      uri: consoleUri(
        `/access-check${queryString({ application: role.applicationId, ask: "role", value: role.key })}`,
      ),
      label: messages.console.roles.why.open,
    }),
    body:
      role.permissions.length > 0 &&
      html`<ul class="plain">${role.permissions.map(
        (permission) => html`<li><code>${permission}</code></li>
`,
      )}</ul>
`,
  }),
];

/** @param role undefined for a new one */
export function roleFormPage(
  view: FormView<RoleInput>,
  application: Pick<ApplicationRole, "applicationId" | "applicationName">,
  role?: ApplicationRole,
): Html {
  const { roles: text } = view.messages.console;
  const crumbs = applicationCrumbs(view, application);
  const backUri = view.consoleUri(
    role ? `/roles/${role.id}` : `/applications/${application.applicationId}/roles`,
  );
  const labels = {
    ...{ key: text.key, name: text.name, description: text.description, permissions: text.permissions },
  };
  const field = fieldsOf(view, labels);
  const isFirst = role === undefined && view.state.faults === undefined && { hasFocus: true };
  return formPage({
    ...view,
    title: role ? text.editTitle({ name: role.name }) : text.make,
    breadcrumbs: role ? [...crumbs, { label: role.name, uri: backUri }] : crumbs,
    id: "role-form",
    labels,
    fields: [
      role === undefined &&
        textField({
          ...isFirst,
          ...field("key"),
          hint: text.keyHint,
          maxLength: 64,
          isCode: true,
          isRequired: true,
        }),
      textField({ ...field("name"), maxLength: 100, isRequired: true }),
      textField({ ...field("description"), isOptional: true }),
      textArea({
        ...field("permissions"),
        ...{ hint: text.permissionsHint, rows: 6, isCode: true, isOptional: true },
      }),
    ],
    submit: { id: "role-save", label: role ? text.save : text.create },
    cancelUri: backUri,
  });
}
