/** The handbook: machines, security, and the organisation itself. */
import { html } from "../../html/html.ts";
import type { Chapter } from "./handbook.page.ts";

export const devices: Chapter = {
  title: "Devices",
  body: html`<p>A device is a machine with a client certificate of your organisation’s own CA. Create an enrolment code, run the line that is shown on the device, and watch it arrive. Certificates renew themselves; tokens are bound to them (RFC 8705), so that a stolen token is useless elsewhere.</p>
<p>The attestation policy decides what a device must prove: nothing, a TPM, or a TPM that you have listed. Revoking a device ends its certificate and its tokens immediately, permanently; the button is in the Certificates tab of its page, below the serial number and the fingerprint.</p>`,
};

export const pools: Chapter = {
  title: "Signing pools",
  body: html`<p>With a signing pool, tokens are signed by agents that run on your own machines; the private keys never reach this server. Registering an agent takes three steps: create a key on its machine and paste what it prints, compare the thumbprints, start the agent. A panel beside them shows when the agent connects. Applications then use the pool in their token settings; until one does, the pool’s page lists what is missing.</p>
<p>Run at least two agents: when none is online, requests wait up to the pool’s signing timeout and then fail. The Requests tab lists those that wait, and which agent has one. Mark an agent as compromised to stop trusting its keys immediately.</p>`,
};

export const auditLog: Chapter = {
  title: "Audit log",
  body: html`<p>Records every change and every sign-in: who, what, when, from where, through which application. Search by email, name, ID, IP address, application, or the reference that an error page shows. A failed sign-in is found by the email address that was typed, for 90 days.</p>
<p>Choose a category, then an event. Save filters that you use often, and export what you found as CSV or JSON. Events form a hash chain: <code>signet audit verify</code> tells whether one was changed or removed.</p>`,
};

export const signingKeys: Chapter = {
  title: "Signing keys",
  body: html`<p>Signet signs tokens with a key per algorithm and publishes the public keys at the JWKS URL. Keys rotate by themselves. Rotating by hand publishes the new key now and signs with it a day later, once caches have refreshed; the old one stays published until its last token has expired.</p>
<p>Revoke a key only if it may have leaked: every token that it signed becomes invalid immediately.</p>`,
};

export const tokenInspector: Chapter = {
  title: "Token inspector",
  body: html`<p>Paste an access, ID or refresh token, a code or a session key to see what it is, whether it is valid here, and why not. Claims are explained. Nothing that you paste is stored or logged.</p>`,
};

export const settings: Chapter = {
  title: "Settings",
  body: html`<p>The organisation’s name, identifiers and issuer, with links to its other settings. <code>signet org export</code> writes everything but users and secrets to a file, and <code>signet org apply</code> brings another organisation to the same state.</p>
<p>Only the operator of this server can disable an organisation.</p>`,
};

export const ledger: Chapter = {
  title: "Ledger",
  body: html`<p>With the ledger on, every token that is signed in the organisation’s name, by the service’s keys or by a pool, is an entry of an append-only log in the formats of C2SP. An entry has the hash of what was signed, the key, the time and the signer, and no personal data. Whoever signs in the organisation’s name unseen leaves a token that is not in the log.</p>
<ul>
<li><strong>Find a token</strong> computes the SHA-256 of its header and payload and looks that up; the token is not stored.</li>
<li><strong>Witnesses</strong> are services of others that cosign checkpoints. With them the service cannot show two histories.</li>
<li><strong>Verify from outside</strong> has the commands with the verifier key. Run <code>signet ledger monitor</code> on a machine of your own: it remembers what it saw and names a ledger that was rewritten.</li>
</ul>`,
};
