/** The security page: password, second factors, recovery codes and trusted browsers. */

import type { SecondFactorMethod } from "../../../core/organisations/sign-in-methods.ts";
import { badge, tag } from "../../../html/components/badge.ts";
import { banner } from "../../../html/components/banner.ts";
import { buttonLink } from "../../../html/components/button.ts";
import { card } from "../../../html/components/card.ts";
import { type ConsoleFrame, consoleLayout } from "../../../html/components/console-layout.ts";
import { type PasskeySignals, passkeySignals } from "../../../html/components/passkey-form.ts";
import { dayWithin } from "../../../html/components/relative-time.ts";
import { toast } from "../../../html/components/toast.ts";
import { type Content, type Html, html, linkAddress } from "../../../html/html.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { passkeyScript } from "../../../html/scripts.ts";

export type SecurityDone = keyof Messages["security"]["done"] | "passwordChanged";

export type SecurityView = ConsoleFrame & {
  isRequired: boolean;
  /** What the organisation lets users add. */
  offered: readonly SecondFactorMethod[];
  done?: SecurityDone | undefined;
  /** Undefined for guests: changed at the home organisation. */
  factors?:
    | {
        /** Milliseconds; null without a password. */
        passwordSince: number | null;
        /** Milliseconds; undefined without an authenticator app. */
        totpSince: number | undefined;
        signals: PasskeySignals;
        passkeys: readonly {
          name: string;
          createdAt: number;
          lastUsedAt: number | null;
          isBackedUp: boolean;
          uri: string;
        }[];
        /** Connections that the user signs in by. */
        identities: readonly { connectionId: string; name: string; createdAt: number; uri: string }[];
        /** Those that could be linked. */
        linkable: readonly { connectionId: string; name: string; uri: string }[];
        recoveryCodes: number;
        uris: {
          password: string;
          authenticator: string;
          authenticatorRemoval: string;
          newPasskey: string;
          recoveryCodes: string;
        };
      }
    | undefined;
  trustedBrowsers: readonly {
    /** Undefined for an unknown browser. */
    name: string | undefined;
    isCurrent: boolean;
    lastUsedAt: number;
    expiresAt: number;
    uri: string;
  }[];
  forgetAllUri: string;
};

type Factors = NonNullable<SecurityView["factors"]>;

/** With fewer recovery codes, the page suggests new ones. */
const MIN_RECOVERY_CODES = 3;

const button = (id: string, uri: string, label: string): Html => buttonLink({ id, uri, label });

const actions = (...buttons: readonly Content[]): Html => html`<div class="actions">
${buttons}</div>
`;

function protection({ factors, messages }: SecurityView): Html {
  const text = messages.console.account.protection;
  const level = protectionLevel(factors);
  const hasFewCodes = factors && level !== "password" && factors.recoveryCodes < MIN_RECOVERY_CODES;
  return card({
    id: "protection",
    title: text.title,
    body: html`<p class="protection ${level}">${text[level]}</p>
${hasFewCodes && html`<p class="protection password">${text.fewCodes({ count: factors.recoveryCodes })}</p>`}`,
  });
}

function protectionLevel(factors: Factors | undefined): "guest" | "passkey" | "totp" | "password" {
  if (factors === undefined) return "guest";
  if (factors.passkeys.length > 0) return "passkey";
  return factors.totpSince === undefined ? "password" : "totp";
}

function password({ passwordSince, uris }: Factors, messages: Messages): Html {
  const text = messages.console.account.password;
  const has = passwordSince !== null;
  return card({
    id: "password",
    title: text.card,
    text: has ? dayWithin(text.there({ at: passwordSince }), passwordSince, messages.format.day) : text.none,
    actions: actions(button("password-change", uris.password, has ? text.change : text.set)),
  });
}

function authenticator({ totpSince, uris }: Factors, messages: Messages, isOffered: boolean): Content {
  const { totp: text } = messages.security;
  const has = totpSince !== undefined;
  if (!has && !isOffered) return undefined;
  return card({
    id: "totp",
    title: text.heading,
    text: has ? dayWithin(text.there({ at: totpSince }), totpSince, messages.format.day) : text.none,
    actions: actions(
      isOffered && button("totp-setup", uris.authenticator, has ? text.replace : text.add),
      has && button("totp-remove", uris.authenticatorRemoval, text.remove),
    ),
  });
}

function passkeys({ passkeys: list, uris }: Factors, messages: Messages, isOffered: boolean): Content {
  const { passkeys: text } = messages.security;
  const { day } = messages.format;
  if (list.length === 0 && !isOffered) return undefined;
  const item = (passkey: Factors["passkeys"][number]) => html`<li>
<div><span class="item-name"><bdi>${passkey.name}</bdi>${passkey.isBackedUp && html` ${tag(text.synced)}`}</span>
<span class="quiet item-note">${dayWithin(text.added({ at: passkey.createdAt }), passkey.createdAt, day)}, ${passkey.lastUsedAt === null ? text.neverUsed : dayWithin(text.used({ at: passkey.lastUsedAt }), passkey.lastUsedAt, day)}</span></div>
<a href="${linkAddress(passkey.uri)}" aria-label="${text.changeOf({ name: passkey.name })}">${text.change}</a>
</li>
`;
  return card({
    id: "passkeys",
    title: text.heading,
    text: list.length === 0 ? text.none : undefined,
    actions: isOffered && actions(button("passkey-add", uris.newPasskey, text.add)),
    body:
      list.length > 0 &&
      html`<ul class="items">
${list.map(item)}</ul>
`,
  });
}

function identities({ identities: list, linkable }: Factors, messages: Messages): Content {
  const { identities: text } = messages.security;
  if (list.length + linkable.length === 0) return undefined;
  const link = (one: Factors["linkable"][number]) => html`<li>
<div><span class="item-name"><bdi>${one.name}</bdi></span>
<span class="quiet item-note">${text.notLinked}</span></div>
<a id="connection-link-${one.connectionId}" href="${linkAddress(one.uri)}" aria-label="${text.linkOf({ connection: one.name })}">${text.link}</a>
</li>
`;
  const item = (identity: Factors["identities"][number]) => html`<li>
<div><span class="item-name"><bdi>${identity.name}</bdi></span>
<span class="quiet item-note">${dayWithin(text.linked({ at: identity.createdAt }), identity.createdAt, messages.format.day)}</span></div>
<a id="connection-unlink-${identity.connectionId}" href="${linkAddress(identity.uri)}" aria-label="${text.unlinkOf({ connection: identity.name })}">${text.unlink}</a>
</li>
`;
  return card({
    id: "identities",
    title: text.heading,
    text: text.explanation,
    body: html`<ul class="items">
${list.map(item)}${linkable.map(link)}</ul>
`,
  });
}

function recovery(factors: Factors, text: Messages["security"]["recovery"]): Html {
  const has = protectionLevel(factors) !== "password";
  return card({
    id: "recovery",
    title: text.heading,
    text: has ? text.left({ count: factors.recoveryCodes }) : text.none,
    actions: has && actions(button("recovery-renew", factors.uris.recoveryCodes, text.renew)),
  });
}

/** Trusted browsers skip the second factor: without one there are none. */
const showsTrustedBrowsers = ({ factors, trustedBrowsers: list }: SecurityView): boolean =>
  factors === undefined || list.length > 0 || protectionLevel(factors) !== "password";

function trustedBrowsers(view: SecurityView, text: Messages["security"]["devices"]): Html {
  const { day } = view.messages.format;
  const item = (browser: SecurityView["trustedBrowsers"][number]) => {
    const name = browser.name ?? text.unknown;
    return html`<li>
<div><span class="item-name">${name}${browser.isCurrent && html` ${badge("good", text.thisOne)}`}</span>
<span class="quiet item-note">${dayWithin(text.used({ at: browser.lastUsedAt }), browser.lastUsedAt, day)}, ${dayWithin(text.until({ at: browser.expiresAt }), browser.expiresAt, day)}</span></div>
<a href="${linkAddress(browser.uri)}" aria-label="${text.forgetOf({ browser: name })}">${text.forget}</a>
</li>
`;
  };
  const has = view.trustedBrowsers.length > 0;
  return card({
    id: "devices",
    title: text.heading,
    text: has ? text.explanation : text.none,
    actions:
      view.trustedBrowsers.length > 1 && actions(button("devices-forget", view.forgetAllUri, text.forgetAll)),
    body:
      has &&
      html`<ul class="items">
${view.trustedBrowsers.map(item)}</ul>
`,
  });
}

function doneText({ done, messages }: SecurityView): string | undefined {
  if (done === "passwordChanged") return messages.console.account.password.changed;
  return done && messages.security.done[done];
}

export function securityPage(view: SecurityView): Html {
  const text = view.messages.security;
  const { organisation, factors } = view;
  const done = doneText(view);
  return consoleLayout({
    ...view,
    scripts: [passkeyScript.path],
    title: view.messages.console.frame.accountPages.security,
    summary: [
      text.summary({ organisation: organisation.name }),
      view.isRequired && ` ${text.required({ organisation: organisation.name })}`,
    ],
    notice: done === undefined ? undefined : toast(done, view, { id: "security-done" }),
    body: html`<div class="cards">
${
  factors === undefined
    ? banner("hint", "security-elsewhere", text.managedElsewhere, text.managedElsewhereText)
    : [
        protection(view),
        password(factors, view.messages),
        authenticator(factors, view.messages, view.offered.includes("totp")),
        passkeys(factors, view.messages, view.offered.includes("passkey")),
        passkeySignals(factors.signals),
        recovery(factors, text.recovery),
        identities(factors, view.messages),
      ]
}${showsTrustedBrowsers(view) && trustedBrowsers(view, text.devices)}</div>
`,
  });
}
