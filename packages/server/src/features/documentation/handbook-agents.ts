/** The handbook: what tokens are for, and who gets them without a stored secret. */
import { html } from "../../html/html.ts";
import type { Chapter } from "./handbook.page.ts";

export const resources: Chapter = {
  title: "Resources",
  body: html`<p>A resource is an API that access tokens are issued for (RFC 8707, RFC 9728). Its identifier is the <code>aud</code> of its tokens. An application names it as <code>resource</code>, or requests one of its scopes: a scope belongs to one resource, and a token is for one at a time.</p>
<ul>
<li><strong>Opaque</strong> tokens are looked up by introspection, and end the moment that they are revoked. <strong>JWT</strong>s are verified by the API itself.</li>
<li><strong>Sender constraint</strong> binds tokens to a key (DPoP) or a client certificate; without one, the application gets no token for this resource.</li>
<li><strong>Never for agents</strong> lists scopes that clients which nobody has registered by hand never get, whatever a user allows.</li>
</ul>
<p>Deleting a resource leaves its scopes, which then belong to none.</p>`,
};

export const trusts: Chapter = {
  title: "Trusted issuers",
  body: html`<p>A pipeline, a cluster or a workload already has tokens of its own. Trust their issuer, and it gets access tokens here with no stored secret: it presents its token as a grant (<code>urn:ietf:params:oauth:grant-type:jwt-bearer</code>) or in the place of a client secret (<code>client_assertion</code>), as the client that the trust names.</p>
<ul>
<li><strong>Presets</strong> know the issuers of GitHub Actions, GitLab and Kubernetes, and what their subjects look like. Replace what begins with <code>your-</code>.</li>
<li><strong>Subject pattern</strong>: <code>*</code> stands for one whole segment between <code>:</code> and <code>/</code>; the first three are written out, so that a pattern never matches somebody else’s repositories. <strong>Claims</strong> narrow it further, and each must be exactly what the trust says.</li>
<li><strong>Each token once</strong>: a token that was accepted is refused when it comes again. A Kubernetes pod presents the same one until it is renewed: turn it off there.</li>
<li><strong>Identity assertions</strong> (ID-JAG) of another authorization server stand for your users, who are found by a connection or by their ID here.</li>
</ul>`,
};

export const tokenExchange: Chapter = {
  title: "Token exchange",
  body: html`<p>A service that got a user’s token must not pass it on: it exchanges it (RFC 8693) for one that is for the next API alone. The new token is of the same user and says in <code>act</code> who acts; it lives no longer than the one it came from, and ends with it.</p>
<ul>
<li>A policy names the application, the target, and the scopes that it may ask for there. Without one, the exchange is refused and audited.</li>
<li><strong>Impersonation</strong> leaves the actor out: the API can’t tell the service from the user.</li>
<li><strong>Identity assertions</strong> (ID-JAG) turn an ID token into one that another authorization server accepts, without a redirect.</li>
</ul>`,
};

export const clientPolicy: Chapter = {
  title: "Unregistered clients",
  body: html`<p>An agent or an MCP client can sign users in without being registered: its client ID is the https address of a document that describes it (Client ID Metadata Documents). The policy says whose documents are accepted, and what such clients may have.</p>
<ul>
<li>Consent is never skipped and shows the document’s host; tokens live for ten minutes at most; what a resource denies agents they never get.</li>
<li>Users see their agents under Applications in their account, and revoke one in a click.</li>
<li>On the command line: <code>signet client-id-metadata-policy show</code> and <code>set</code>.</li>
</ul>`,
};

export const initialAccessTokens: Chapter = {
  title: "Client registration",
  body: html`<p>A client can register itself (RFC 7591) at <code>/register</code> below the issuer, with an initial access token. The token says how many clients may do so, until when, and which scopes, resources and grant types they may have; it is shown once. Signet keeps its hash.</p>
<ul>
<li>There is no registration without a token: while none is enabled, or all are expired or used up, registration is off for the organisation. Disable or revoke the tokens to turn it off.</li>
<li>Revoking a token leaves the clients that registered with it: they are among the applications, where they are disabled and deleted. A client manages its own registration (RFC 7592), and one that nobody uses is deleted in time.</li>
<li>Such clients are agents as those with a metadata document: consent is never skipped, tokens live for ten minutes at most, and what a resource denies agents they never get.</li>
<li>On the command line: <code>signet initial-access-token create</code>, <code>list</code> and <code>delete</code>.</li>
</ul>`,
};

export const authorizationDetailTypes: Chapter = {
  title: "Authorization detail types",
  body: html`<p>A scope says what an application may do in general; authorization details (RFC 9396) say what for: one payment, one account, one document. A type has the words in which a user is asked, the JSON Schema that a request’s details keep, and the resource that they belong to.</p>
<ul>
<li><strong>Template</strong>: <code>Pay {amount.value} to {creditor}</code>. What stands in braces is taken from the request and shown as a value. Consent always shows it.</li>
<li><strong>Schema</strong>: JSON Schema 2020-12. What the template doesn’t show the user doesn’t see, so refuse other members by <code>additionalProperties: false</code>.</li>
<li>An application may ask for a type when its settings name it. Tokens, introspection and the token response carry what was granted.</li>
</ul>
<p>Deleting a type takes its details out of new and refreshed tokens, also when a type of the same name is made anew.</p>`,
};

export const clientAuthorities: Chapter = {
  title: "Client certificate authorities",
  body: html`<p>An application can authenticate by mutual TLS (RFC 8705) with a certificate of the organisation’s own device CA, or of an authority that is added here, such as a bank’s or a government’s. Its certificate must chain to the authority and have the subject or alternative name that the application is registered with.</p>
<p>Paste one CA certificate in PEM. Disabling or deleting the authority takes effect with the next request.</p>`,
};
