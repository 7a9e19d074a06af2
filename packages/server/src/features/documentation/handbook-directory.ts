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
  body: html`<p>A <strong>SCIM directory</strong> such as Microsoft Entra ID or Okta creates, changes and disables users and groups here: see <a href="#scim">Directory by SCIM</a>.</p>
<p>An <strong>identity provider</strong> signs users in. Create the connection, register its redirect URI at the provider, then enable it. <strong>Sign-ins</strong> lists what the provider answered in the last 30 days, with the reason of each failure and the reference of the page that the user saw.</p>
<ul>
<li>Several tokens can be active at a time: add the new one, enter it in the directory, then revoke the old one.</li>
<li>Deleting a connection makes its users and groups your own. Accounts remain; nobody signs in with the connection any more.</li>
</ul>`,
};

export const domains: Chapter = {
  title: "Domains",
  body: html`<p>Add a domain, publish its TXT record with the DNS provider, and look it up. Signet checks the record every day; when it has been missing for seven days, the domain is no longer trusted.</p>
<ul>
<li>Under Settings, route the domain to an identity provider: users with an address of it sign in there.</li>
<li><strong>No other way to sign in</strong> closes passwords, passkeys and email codes for the domain. Make a <a href="#breakGlass">break-glass administrator</a> first.</li>
<li>A customer’s own administrator can set all this up without an account: an application makes a one-time link with <code>POST …/portal-links</code>, or <code>signet portal-link create</code>.</li>
</ul>`,
};

export const breakGlass: Chapter = {
  title: "Break-glass access",
  body: html`<p>While a domain is enforced, its users sign in with the identity provider alone. A break-glass administrator can still sign in, at <code>/oauth/{org}/break-glass</code>, with a password or passkey and a second factor: to repair the connection when the provider is down or wrongly configured.</p>
<ul>
<li>At most five. Each needs the administrator role, an account of the organisation and a second factor; the list says who has lost one of them.</li>
<li>The last one stays while a domain is enforced.</li>
<li>Each use is in the audit log and emailed to every administrator.</li>
</ul>`,
};

export const scim: Chapter = {
  title: "Directory by SCIM",
  body: html`<p>SCIM 2.0 (RFC 7643, 7644) keeps users and groups as your directory has them. Under Connections, create a SCIM directory, then add a token in its Tokens tab and copy it: Signet can’t show it again. General has the SCIM URL.</p>
<ul>
<li><strong>Microsoft Entra ID.</strong> Enterprise application › Provisioning › Automatic. Tenant URL is the SCIM URL, Secret token the token. Test the connection, assign users and groups, start provisioning.</li>
<li><strong>Okta.</strong> Application › Provisioning › SCIM with HTTP Header authentication. Base URL is the SCIM URL, the header’s bearer token is the token, the unique identifier is <code>userName</code>. Turn on create, update and deactivate users, and push groups.</li>
<li><strong>Others.</strong> Any SCIM 2.0 client works: users, groups, PATCH, filters, bulk and cursors.</li>
</ul>
<p><strong>Whom it sees.</strong> Users and groups of its own, and local users with the same email address: the first write takes such a user over. Their roles and applications stay.</p>
<p><strong>Leaving.</strong> A user whom the directory sets to inactive is signed out within a second: sessions, refresh tokens and session keys end, and applications with back-channel logout are told. What happens to a deleted user is the connection’s setting: disabled, or deleted. The last administrator can’t be disabled.</p>
<p><strong>Access.</strong> Give roles and applications to the directory’s groups; attributes called <code>roles</code> or <code>entitlements</code> grant nothing.</p>
<p><strong>When something is missing here,</strong> open Calls: the last 1,000 requests with status and error in words, or the errors alone. A directory with a wrong token is not listed, because anybody could be calling. <code>uniqueness</code> means that another account has the user name or address.</p>
<p>To rotate a token, add a second one, enter it in the directory, then revoke the first. Tokens can expire; the Tokens tab says when each was last used. To end provisioning, delete the connection: its users and groups become your own.</p>`,
};
