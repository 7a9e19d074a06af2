import { type Content, type Html, html, linkAddress } from "../../html/html.ts";
import { contentLayout, type PageFrame, type PageOrganisation } from "../../html/layout.ts";
import type { Messages } from "../../html/messages/messages.ts";
import { notice } from "../../html/notice.ts";
import { type AccountNav, accountNav } from "./account-nav.ts";

/** What was just done, as the address of the page says it. */
export type SecurityDone = keyof Messages["security"]["done"];

export type SecurityView = PageFrame & {
  organisation: PageOrganisation;
  nav: AccountNav;
  user: { email: string };
  /** The organisation asks everybody for a second factor. */
  isRequired: boolean;
  done?: SecurityDone | undefined;
  /** Undefined for a guest: the account's home organisation changes it. */
  factors?:
    | {
        /** When the authenticator app was set up, in milliseconds; undefined without one. */
        totpSince: number | undefined;
        passkeys: readonly {
          name: string;
          createdAt: number;
          lastUsedAt: number | null;
          isBackedUp: boolean;
          uri: string;
        }[];
        recoveryCodes: number;
        uris: {
          authenticator: string;
          authenticatorRemoval: string;
          newPasskey: string;
          recoveryCodes: string;
        };
      }
    | undefined;
  devices: readonly {
    /** A name in our words; undefined when the browser is none that we know. */
    name: string | undefined;
    isThisOne: boolean;
    lastUsedAt: number;
    expiresAt: number;
    uri: string;
  }[];
  forgetAllUri: string;
};

type Factors = NonNullable<SecurityView["factors"]>;

const button = (id: string, uri: string, text: string): Html =>
  html`<a class="button" id="${id}" href="${linkAddress(uri)}">${text}</a>
`;

function card(id: string, heading: string, body: Content): Html {
  return html`<section class="card" aria-labelledby="${id}">
<h2 id="${id}">${heading}</h2>
${body}</section>
`;
}

function authenticator({ totpSince, uris }: Factors, text: Messages["security"]["totp"]): Html {
  return card("totp-title", text.heading, [
    html`<p class="quiet">${totpSince === undefined ? text.none : text.there(totpSince)}</p>
<div class="actions">
`,
    button("totp-setup", uris.authenticator, totpSince === undefined ? text.add : text.replace),
    totpSince !== undefined && button("totp-remove", uris.authenticatorRemoval, text.remove),
    html`</div>
`,
  ]);
}

function passkeys({ passkeys: list, uris }: Factors, text: Messages["security"]["passkeys"]): Html {
  const item = (passkey: Factors["passkeys"][number]) => html`<li>
<div><span class="item-name"><bdi>${passkey.name}</bdi>${passkey.isBackedUp && html` <span class="tag">${text.synced}</span>`}</span>
<span class="quiet item-note">${text.added(passkey.createdAt)}, ${passkey.lastUsedAt === null ? text.neverUsed : text.used(passkey.lastUsedAt)}</span></div>
<a href="${linkAddress(passkey.uri)}" aria-label="${text.changeOf(passkey.name)}">${text.change}</a>
</li>
`;
  return card("passkeys-title", text.heading, [
    list.length === 0
      ? html`<p class="quiet">${text.none}</p>
`
      : html`<ul class="items">
${list.map(item)}</ul>
`,
    html`<div class="actions">
`,
    button("passkey-add", uris.newPasskey, text.add),
    html`</div>
`,
  ]);
}

function recovery(factors: Factors, text: Messages["security"]["recovery"]): Html {
  const has = factors.totpSince !== undefined || factors.passkeys.length > 0;
  return card("recovery-title", text.heading, [
    html`<p class="quiet">${has ? text.left(factors.recoveryCodes) : text.none}</p>
`,
    has &&
      html`<div class="actions">
${button("recovery-renew", factors.uris.recoveryCodes, text.renew)}</div>
`,
  ]);
}

function devices(view: SecurityView, text: Messages["security"]["devices"]): Html {
  const item = (device: SecurityView["devices"][number]) => {
    const name = device.name ?? text.unknown;
    return html`<li>
<div><span class="item-name">${name}${device.isThisOne && html` <span class="tag">${text.thisOne}</span>`}</span>
<span class="quiet item-note">${text.used(device.lastUsedAt)}, ${text.until(device.expiresAt)}</span></div>
<a href="${linkAddress(device.uri)}" aria-label="${text.forgetOf(name)}">${text.forget}</a>
</li>
`;
  };
  if (view.devices.length === 0) {
    return card(
      "devices-title",
      text.heading,
      html`<p class="quiet">${text.none}</p>
`,
    );
  }
  return card("devices-title", text.heading, [
    html`<p class="quiet">${text.explanation}</p>
<ul class="items">
${view.devices.map(item)}</ul>
`,
    view.devices.length > 1 &&
      html`<div class="actions">
${button("devices-forget", view.forgetAllUri, text.forgetAll)}</div>
`,
  ]);
}

/** What the account is protected by, and the way to each change. */
export function securityPage(view: SecurityView): Html {
  const text = view.messages.security;
  const { organisation, factors } = view;
  return contentLayout({
    ...view,
    title: view.messages.frame.documentTitle(text.title, organisation.name),
    body: html`<div class="intro">${accountNav(view.nav, view.messages)}<h1>${text.heading}</h1>
<p class="quiet">${text.signedInAs} <bdi>${view.user.email}</bdi></p>
<p class="quiet">${text.summary(organisation.name)}${view.isRequired && html` ${text.required(organisation.name)}`}</p>
${view.done !== undefined && notice("hint", "security-done", text.done[view.done])}</div>
<div class="cards">
${
  factors === undefined
    ? notice("hint", "security-elsewhere", text.managedElsewhere, text.managedElsewhereText)
    : [authenticator(factors, text.totp), passkeys(factors, text.passkeys), recovery(factors, text.recovery)]
}${devices(view, text.devices)}</div>`,
  });
}
