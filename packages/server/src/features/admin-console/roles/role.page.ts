/** The parts of a role's page, and its form. */
import { tag } from "../../../html/components/badge.ts";
import { buttonLink } from "../../../html/components/button.ts";
import { card, facts } from "../../../html/components/card.ts";
import { textArea, textField } from "../../../html/components/fields.ts";
import { fieldsOf, formPage } from "../../../html/components/form-page.ts";
import type { FormView } from "../../../html/components/form-state.ts";
import { recordIcon } from "../../../html/components/record-heading.ts";
import { relativeTime } from "../../../html/components/relative-time.ts";
import { type Content, type Html, html, linkAddress } from "../../../html/html.ts";
import { queryString } from "../../../page-kit/page.ts";
import type { RecordParts } from "../../../page-kit/record-pages.ts";
import type { RoleInput } from "./role-input.ts";
import {
  organisationItself,
  ownerCrumbs,
  type RoleOwner,
  type RoleView,
  roleName,
  type ShownRole,
} from "./role-pages.ts";

export function aboveRole({ record: role, uriOf, messages, consoleUri }: RoleView): RecordParts {
  const { roles: text } = messages.console;
  const remove = { id: "role-delete", uri: uriOf("/delete"), label: text.deleteRole };
  const { applicationId, applicationName } = role;
  const owner =
    applicationName === null
      ? text.owners.organisation
      : html`<a href="${linkAddress(consoleUri(`/applications/${applicationId}/roles`))}"><bdi>${applicationName}</bdi></a>`;
  return {
    head: {
      name: roleName(role, messages),
      mark: recordIcon("shield"),
      facts: [
        role.builtIn && tag(text.builtIn.tag),
        owner,
        !role.builtIn && text.permissionCount({ count: role.permissions.length }),
      ],
      id: { id: "role-id", value: role.id, label: text.id },
    },
    actions: !role.builtIn && buttonLink({ id: "role-edit", uri: uriOf("/edit"), label: text.edit }),
    more: role.builtIn ? [] : [{ ...remove, isQuestion: true, isDangerous: true }],
    done: text.done,
  };
}

export const roleGeneral = ({
  record: role,
  messages: { console, format },
  consoleUri,
}: RoleView): Content => {
  const { roles: text } = console;
  return [
    card({
      id: "role-details",
      title: text.details,
      text: role.builtIn ? text.builtIn.text : undefined,
      body: facts([
        { label: text.key, content: html`<code>${role.key}</code>` },
        {
          label: text.description,
          content: role.description !== null && html`<bdi>${role.description}</bdi>`,
        },
        { label: text.created, content: relativeTime(role.createdAt, format.day) },
      ]),
    }),
    !role.builtIn &&
      card({
        id: "role-permissions",
        title: text.permissions,
        text: role.permissions.length === 0 ? text.noPermissions : undefined,
        actions: buttonLink({
          id: "role-why",
          uri: consoleUri(
            `/access-check${queryString({ application: role.applicationId ?? undefined, ask: "role", value: role.key })}`,
          ),
          label: text.why.open,
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
};

/**
 * @param owner whose roles they are; undefined where the form asks for the application
 * @param role undefined for a new one
 */
export function roleFormPage(
  view: FormView<RoleInput>,
  owner: RoleOwner | undefined,
  role?: ShownRole,
): Html {
  const { roles: text } = view.messages.console;
  const crumbs = ownerCrumbs(view, owner ?? organisationItself);
  const listUri = owner?.applicationId == null ? "/roles" : `/applications/${owner.applicationId}/roles`;
  const backUri = view.consoleUri(role ? `/roles/${role.id}` : listUri);
  const labels = {
    ...{ application: text.application, key: text.key, name: text.name },
    ...{ description: text.description, permissions: text.permissions },
  };
  const field = fieldsOf(view, labels);
  const first = role === undefined && view.state.faults === undefined && { hasFocus: true };
  return formPage({
    ...view,
    title: role ? text.editTitle({ name: role.name }) : text.make,
    breadcrumbs: role ? [...crumbs, { label: role.name, uri: backUri }] : crumbs,
    id: "role-form",
    labels,
    fields: [
      owner === undefined &&
        textField({
          ...first,
          ...field("application"),
          ...{ hint: text.applicationHint, maxLength: 254, isOptional: true },
        }),
      role === undefined &&
        textField({
          ...(owner !== undefined && first),
          ...field("key"),
          ...{ hint: text.keyHint, maxLength: 64, isCode: true, isRequired: true },
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
