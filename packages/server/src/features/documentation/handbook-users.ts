/** The handbook: users, and what they see. */
import { html } from "../../html/html.ts";
import type { Chapter } from "./handbook.page.ts";

export const users: Chapter = {
  title: "Users",
  body: html`<p>Invite users by email, import them from a CSV file, or create them with a temporary password. A user’s page has five tabs: <strong>Overview</strong> with the profile, <strong>Security</strong> with sign-in methods and sessions, <strong>Access</strong> with roles, groups, assigned applications and consents, <strong>Activity</strong>, and <strong>Advanced</strong> with attributes and the end of the account.</p>
<ul>
<li><strong>Disable</strong> ends all sessions and tokens immediately. Enable restores the account as it was.</li>
<li><strong>End sessions</strong> signs the user out everywhere, of applications too where they support back-channel logout.</li>
<li><strong>Reset second factors</strong> removes all of them. Do it only after you have made sure who asks: the password alone signs in afterwards.</li>
<li><strong>Delete</strong> is permanent. The audit log keeps the events, without the address.</li>
</ul>
<p>At least one enabled administrator always stays.</p>`,
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
