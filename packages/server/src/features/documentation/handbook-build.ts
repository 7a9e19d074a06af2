/** The handbook: home and what applications need. */
import { html } from "../../html/html.ts";
import type { Chapter } from "./handbook.page.ts";

export const overview: Chapter = {
  title: "Home",
  body: html`<p>Home shows what needs attention first: client secrets and certificates that expire soon, signing pools without an agent, emails that can’t be sent, users who lost their second factors. Each entry leads to the page that solves it.</p>
<p>The charts count sign-ins by method and outcome, tokens by application, agents and waiting signing requests, and devices. Choose a range of 24 hours to 90 days. “Show numbers” below a chart lists them.</p>
<p>The charts are made from counts by hour, without users or addresses in them.</p>`,
};

export const quickstart: Chapter = {
  title: "Get started",
  body: html`<p>Choose your framework or product. Signet creates the application with the settings that its library needs, and shows install, configuration and run as three steps with your own values filled in. The panel beside them waits for the first sign-in and explains what is refused until then.</p>
<p>Any certified OpenID Connect library works. Frameworks without a library of ours use an ordinary one.</p>`,
};

export const applications: Chapter = {
  title: "Applications",
  body: html`<p>An application is an OAuth 2.0 client (RFC 6749): a web, single-page, native or machine-to-machine program with a client ID of its own.</p>
<ul>
<li><strong>URLs.</strong> Redirect URIs are compared character by character. Only native applications may use any port on the loopback address (RFC 8252 §7.3).</li>
<li><strong>Credentials.</strong> Confidential applications authenticate with a client secret, a key (<code>private_key_jwt</code>) or a certificate. Keep two secrets active while you rotate: add the new one, deploy it, then revoke the old one.</li>
<li><strong>Tokens.</strong> Lifetimes, algorithm, audience. Refresh tokens rotate with every use; a reused one ends all tokens of that sign-in (RFC 9700 §4.14).</li>
<li><strong>Access and consent.</strong> Let every user in or assigned users only. Consent is given by each user, by an administrator for everyone, or not asked at all for your own applications.</li>
</ul>
<p>Disabling an application stops sign-ins and tokens immediately and can be undone. Deleting it can’t.</p>
<p>After a change is saved, <strong>Undo</strong> takes it back for ten minutes, unless the record has been changed again.</p>`,
};

export const scopes: Chapter = {
  title: "Scopes",
  body: html`<p>A scope names what an application may ask for. The standard scopes (OpenID Connect Core §5.4) return the user’s name, email, address and phone number. Custom scopes add claims of your own to access tokens and userinfo: a constant, or a value from the user’s groups, roles or attributes.</p>
<p>Mark a scope as sensitive when it gives access to something users should notice: the consent page lists it first. Applications get only scopes that are among their allowed scopes.</p>
<p>A scope has to be defined before an application can have it; what nobody defined is left out of tokens, and this page names the applications that still have such a scope. Deleting a scope ends it at once in applications, consents, refreshed tokens, introspection and userinfo. The question before it names who uses it, and the Applications tab lists them. A scope that is made anew under the same name starts without any of them.</p>`,
};

export const systemAccounts: Chapter = {
  title: "Service accounts",
  body: html`<p>A service account calls the management API with a key pair of its own and signs each request (HMAC). It may manage the application that it belongs to, and the others that you grant. Accounts of administrators may manage the whole organisation.</p>
<p>Add a second key in the Keys tab before you revoke the first one, so that nothing stops. The audit log names the account for every change that it makes.</p>`,
};

export const webhooks: Chapter = {
  title: "Webhooks",
  body: html`<p>A webhook sends the organisation’s events to an address of yours, signed by the Standard Webhooks specification, in order and at least once. Choose all events, or some of them by the groups of the audit log.</p>
<ul>
<li><strong>Secret.</strong> Shown once. Rotating makes a new one; the one before signs too for as long as you choose, so that nothing is lost while the receiver is changed.</li>
<li><strong>Deliveries.</strong> Every event with its status, attempts, response and payload, for 30 days. A failure is tried again for about two days while the events behind it wait; then it is failed, and one of them or all can be retried.</li>
<li><strong>Send a test</strong> sends <code>webhook.test</code>, which no event causes.</li>
<li><strong>Pause</strong> keeps what waits and leaves out what happens meanwhile; <code>signet webhook replay</code> sends the events of a time again.</li>
</ul>`,
};
