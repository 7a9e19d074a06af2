/** The result page of the try-it flow: both tokens decoded, with every known claim explained. */
import { type Html, html, linkAddress } from "../../html/html.ts";
import { json } from "../../html/json.ts";
import {
  contentLayout,
  type PageApplication,
  type PageFrame,
  type PageOrganisation,
} from "../../html/layout.ts";
import type { Messages } from "../../html/messages/messages.ts";

export type DecodedToken = {
  /** The compact serialisation as received. */
  encoded: string;
  header: Readonly<Record<string, unknown>>;
  payload: Readonly<Record<string, unknown>>;
  /** Whether the signature verified against the issuer's JWKS. */
  verified: boolean;
};

export type TokensView = PageFrame & {
  organisation: PageOrganisation;
  application: PageApplication;
  idToken: DecodedToken;
  accessToken: DecodedToken;
  jwksUri: string;
  /** Milliseconds since the epoch, for the remaining lifetime. */
  now: number;
  /** `/demo/try`. */
  tryAgainUri: string;
  /** The end session endpoint. */
  signOutUri: string;
  /** `copyScript.path`. */
  script: string;
};

type Part = { id: string; title: string; text: string; token: DecodedToken };

function status(token: DecodedToken, view: TokensView): Html {
  const text = view.messages.tokens;
  const algorithm = typeof token.header["alg"] === "string" ? token.header["alg"] : "";
  const { exp } = token.payload;
  const remaining =
    typeof exp === "number" && Math.abs(exp) <= MAX_DATE_SECONDS ? exp * 1_000 - view.now : undefined;
  return html`<ul class="facts">
<li class="${token.verified ? "good" : "bad"}">${token.verified ? text.verified({ algorithm }) : text.notVerified}</li>
<li>${remaining === undefined ? text.neverExpires : remaining > 0 ? text.expiresIn({ seconds: remaining / 1_000 }) : text.expired}</li>
</ul>`;
}

/** Claims of type NumericDate (RFC 7519 §2). */
const NUMERIC_DATES = new Set(["exp", "iat", "nbf", "auth_time"]);

/** The last second a Date can represent (ECMA-262 "time values"). */
const MAX_DATE_SECONDS = 8_640_000_000_000;

function claimRow(name: string, value: unknown, text: Messages): Html | undefined {
  const meanings: Readonly<Record<string, string>> = text.claims;
  const meaning = Object.hasOwn(meanings, name) ? meanings[name] : undefined;
  if (meaning === undefined) return undefined;
  const isDate = NUMERIC_DATES.has(name) && typeof value === "number" && Math.abs(value) <= MAX_DATE_SECONDS;
  return html`<dt><code>${name}</code></dt>
<dd>${meaning}${isDate && html`<br><span class="quiet">${text.format.second(value * 1_000)}</span>`}</dd>
`;
}

function section(part: Part, view: TokensView): Html {
  const text = view.messages.tokens;
  const { id, token } = part;
  const claims = { ...token.header, ...token.payload };
  return html`<section class="card token" aria-labelledby="${id}-title">
<h2 id="${id}-title">${part.title}</h2>
<p class="quiet">${part.text}</p>
${status(token, view)}
<h3>${text.header}</h3>
<pre>${json(token.header)}</pre>
<h3>${text.payload}</h3>
<pre>${json(token.payload)}</pre>
<details><summary>${text.claims}</summary>
<dl class="claims">
${Object.entries(claims).map(([name, value]) => claimRow(name, value, view.messages))}</dl></details>
<details><summary>${text.encoded}</summary>
<pre id="${id}-encoded">${token.encoded}</pre>
<button class="button" type="button" data-copy="${id}-encoded" data-copied="${text.copied}" hidden>${text.copy}</button></details>
</section>
`;
}

export function tokensPage(view: TokensView): Html {
  const text = view.messages.tokens;
  const parts: readonly Part[] = [
    { id: "id-token", title: text.idToken, text: text.idTokenText, token: view.idToken },
    { id: "access-token", title: text.accessToken, text: text.accessTokenText, token: view.accessToken },
  ];
  return contentLayout({
    ...view,
    scripts: [view.script],
    title: view.messages.frame.documentTitle({ title: text.heading, organisation: view.organisation.name }),
    body: html`<div class="intro"><h1>${text.heading}</h1>
<p class="lead">${text.summary({ application: view.application.name })}</p>
<p class="quiet">${text.keyFrom} <a href="${linkAddress(view.jwksUri)}">${view.jwksUri}</a></p>
<div class="actions"><a class="button primary" id="demo-again" href="${linkAddress(view.tryAgainUri)}">${text.again}</a>
<a class="button" id="demo-sign-out" href="${linkAddress(view.signOutUri)}">${text.signOut}</a></div></div>
<div class="pair">
${parts.map((part) => section(part, view))}</div>
<p class="visually-hidden" id="copy-status" role="status"></p>`,
  });
}
