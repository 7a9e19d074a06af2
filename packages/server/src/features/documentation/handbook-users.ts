/** The handbook: users, and what they see. */
import { html } from "../../html/html.ts";
import type { Chapter } from "./handbook.page.ts";

export const users: Chapter = {
  title: "Users",
  body: html`<p>Invite users by email, import them from a CSV file, or create them with a temporary password. A user’s page has five tabs: <strong>Overview</strong> with the profile, <strong>Security</strong> with sign-in methods and sessions, <strong>Access</strong> with consents, assigned applications, role and groups, <strong>Activity</strong>, and <strong>Advanced</strong> with attributes and the end of the account.</p>
<ul>
<li><strong>Disable</strong> ends all sessions and tokens immediately. Enable restores the account as it was.</li>
<li><strong>End sessions</strong> signs the user out everywhere, of applications too where they support back-channel logout.</li>
<li><strong>Reset second factors</strong> removes all of them. Do it only after you have made sure who asks: the password alone signs in afterwards.</li>
<li><strong>Delete</strong> is permanent. The audit log keeps the events, without the address.</li>
</ul>
<p>At least one enabled administrator always stays.</p>`,
};

export const groups: Chapter = {
  title: "Groups",
  body: html`<p>A group gives its members roles and access to applications. Members are users, guests and other groups, up to eight groups in a chain. A change applies immediately: the next token, introspection and userinfo response tell it.</p>
<p>Groups of a SCIM connection keep the name and members that the directory sends. Their description is yours.</p>`,
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

export const invitations: Chapter = {
  title: "Invitations",
  body: html`<p>An invited user gets an email with a link that works once, for 24 hours. Opening it sets the password and signs in. Send the invitation again to make a new link; the older one stops working. Withdraw it to delete the account, which nobody has used yet.</p>
<p>Paste a list of addresses to invite many users at a time.</p>`,
};

export const consents: Chapter = {
  title: "Consents",
  body: html`<p>Lists what users and administrators have allowed applications to do. Revoking a consent ends the refresh tokens that rest on it. APIs that introspect tokens reject them immediately; others accept access tokens until they expire.</p>
<p>Pre-authorised applications never ask for the scopes listed under Pre-authorisations. Use it for applications of your own.</p>`,
};

export const signInPage: Chapter = {
  title: "Sign-in page",
  body: html`<p>Everything that users see before they are signed in: name, colour, texts per language, images, and links to help, privacy and terms. The preview follows what you type and stores nothing. Colours are saved only if text in them is readable in light and dark (WCAG AA).</p>
<p><strong>Sign-in methods</strong> decides which of password and passkey are offered, and in which order.</p>
<ul>
<li>Passkey only: a password alone signs nobody in, on the pages and by API. Users without a passkey enter their password once, to add one.</li>
<li>Password only: a passkey is a second factor and nothing else.</li>
<li>Without authenticator apps, users who have one verify it a last time and add a passkey. Recovery codes stay valid.</li>
</ul>
<p>Signet refuses a change that would take away the only method of your own account. Sessions that no longer meet the policy are asked for more at their next request.</p>`,
};

export const mailTemplates: Chapter = {
  title: "Emails",
  body: html`<p>Every email to users can be reworded per language: subject, heading, body and button. Insert variables such as the organisation’s name where you need them; the link is always there. Send a test to your own address before you save, and reset a text to return to ours.</p>
<p>Emails of a language without own texts use the texts that come with Signet.</p>`,
};

export const policies: Chapter = {
  title: "Policies",
  body: html`<p>Apply to all users, including administrators: password length, whether a second factor or a confirmed email address is required, whether users may delete their account, how long sessions last.</p>
<p>Passwords have a minimum length and are compared with lists of known ones; there are no rules for characters (NIST SP 800-63B). A session ends at its maximum lifetime, or earlier when it is idle.</p>`,
};
