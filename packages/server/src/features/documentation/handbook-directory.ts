/** The handbook: groups, roles and permissions, and where they come from. */
import { html } from "../../html/html.ts";
import type { Chapter } from "./handbook.page.ts";

export const groups: Chapter = {
  title: "Groups",
  body: html`<p>A group gives its members roles and access to applications. Members are users, guests and other groups, up to eight groups in a chain; a group can’t contain itself. A change applies immediately: the next token, introspection and userinfo response tell it.</p>
<ul>
<li><strong>Members.</strong> Add a user by email address or a group by name. Tick several members to remove them at a time. Export CSV lists them.</li>
<li><strong>Import.</strong> Paste or choose a CSV file: one member a line, by the columns <code>email</code>, <code>group</code> or <code>id</code>, or a plain list of addresses. The preview says what happens to each line before anything changes; lines that name nobody are left out. At most 5,000 lines.</li>
<li><strong>Roles and Access</strong> list what members get: roles in applications, and applications with limited access that the group opens.</li>
<li><strong>Delete</strong> takes from its members what they have by the group. Their accounts remain.</li>
</ul>
<p>Groups of a SCIM connection keep the name and members that the directory sends; change them there. Their description is yours, and so are their roles: give a role to the directory’s group, and the directory decides who has it.</p>
<p>An application gets the groups of a user with the scope <code>groups</code>: those that lead to a role in it or give access to it, or all of them, as its Tokens tab says.</p>`,
};

export const roles: Chapter = {
  title: "Roles and permissions",
  body: html`<p>A role says what its holders may do in one application: it has a key, such as <code>approver</code>, and permissions, such as <code>invoices:read</code>. Roles lists those of all applications and of the organisation itself; an application’s Roles tab has its own.</p>
<ul>
<li><strong>Assign</strong> a role to users, groups, applications that act on their own behalf, and service accounts: on the role’s Assignments tab, or on the Access tab of a user. Members of a group have its roles, also through groups inside it.</li>
<li><strong>Tokens</strong> tell an application its own roles with the scope <code>roles</code>, and their permissions with <code>permissions</code>. No application hears of another one’s roles. With more than 200 values, the token says <code>roles_overage</code> and userinfo lists them page by page.</li>
<li><strong>Removing</strong> an assignment, a member or a role applies immediately in new tokens, introspection and userinfo. Access tokens that an API checks by itself keep the old roles until they expire: keep their lifetime short.</li>
<li><strong>Check access</strong> answers why a user, group or program has a role or a permission or may use an application, with every path that leads there, or why not.</li>
</ul>
<p>Keys can’t change, because programs compare them; names and permissions can. <strong>Administrator</strong> and <strong>Standard</strong> are built in: they decide who manages the organisation, and a user’s own role gives them. Roles of the organisation that you add are answered by Check access and the API (<code>/access</code>); tokens do not carry them.</p>`,
};

export const connections: Chapter = {
  title: "Connections",
  body: html`<p>A <strong>SCIM directory</strong> such as Microsoft Entra ID or Okta creates, changes and disables users and groups here. Create the connection, then a token, and enter the SCIM URL and the token in the directory. <strong>Calls</strong> lists the last 1,000 requests with their status.</p>
<p>An <strong>identity provider</strong> signs users in. Create the connection, register its redirect URI at the provider, then enable it. <strong>Sign-ins</strong> lists what the provider answered in the last 30 days, with the reason of each failure and the reference of the page that the user saw.</p>
<ul>
<li>Several tokens can be active at a time: add the new one, enter it in the directory, then revoke the old one.</li>
<li>Deleting a connection makes its users and groups your own. Accounts remain; nobody signs in with the connection any more.</li>
</ul>`,
};
